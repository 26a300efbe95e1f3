// What an API server sends, written by a test: protobuf as far as tests of a client need it, and
// events in JSON.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/wire_reader.h"

namespace knx::client::testing {

inline std::string Varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

inline std::string Field(int number, std::string_view bytes) {
  return Varint(static_cast<std::uint64_t>(number) << 3 | 2) + Varint(bytes.size()) +
         std::string(bytes);
}

inline std::string Number(int number, std::uint64_t value) {
  return Varint(static_cast<std::uint64_t>(number) << 3) + Varint(value);
}

inline std::string Enveloped(std::string_view kind, std::string_view raw,
                             std::string_view api_version = "v1") {
  return std::string("k8s\0", 4) + Field(1, Field(1, api_version) + Field(2, kind)) + Field(2, raw);
}

// What lies within messages in messages, by the numbers of their fields; empty: nothing.
inline std::string Within(std::string_view message, std::initializer_list<std::uint32_t> path) {
  for (const std::uint32_t number : path) {
    k8s::WireReader reader(message);
    k8s::WireField field;
    message = {};
    while (reader.Next(field)) {
      if (field.number == number) message = field.bytes;
    }
  }
  return std::string(message);
}

// The object in the body of a request or an answer.
inline std::string Opened(std::string_view enveloped) { return Within(enveloped.substr(4), {2}); }

struct WireObject {
  std::string name, uid, version;
  std::string namespace_ = {};
  bool broken = false;  // sound protobuf, and not what we read: a node with a bad quantity
};

inline std::string Raw(const WireObject& object) {
  std::string meta = Field(1, object.name) + Field(5, object.uid) + Field(6, object.version);
  if (!object.namespace_.empty()) meta += Field(3, object.namespace_);
  std::string out = Field(1, meta);
  if (object.broken) out += Field(3, Field(2, Field(1, "cpu") + Field(2, Field(1, "abc"))));
  return out;
}

inline std::string Framed(std::string_view type, std::string_view enveloped) {
  const std::string message = Field(1, type) + Field(2, Field(1, enveloped));
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(message.size() >> shift);
  return out + message;
}

// One event of a watch of nodes.
inline std::string NodeEvent(std::string_view type, const WireObject& object) {
  return Framed(type, Enveloped("Node", Raw(object)));
}

inline std::string BookmarkEvent(const std::string& version, bool initial_end) {
  std::string meta = Field(6, version);
  if (initial_end) meta += Field(12, Field(1, "k8s.io/initial-events-end") + Field(2, "true"));
  return Framed("BOOKMARK", Enveloped("Node", Field(1, meta)));
}

inline std::string WireStatus(int code, std::string_view reason, std::string_view message) {
  return Enveloped("Status", Field(2, "Failure") + Field(3, message) + Field(4, reason) +
                                 Number(6, static_cast<std::uint64_t>(code)));
}

inline std::string ErrorEvent(int code, std::string_view reason, std::string_view message) {
  return Framed("ERROR", WireStatus(code, reason, message));
}

inline std::string NodeList(const std::vector<WireObject>& items, const std::string& version,
                            const std::string& continue_token) {
  std::string raw = Field(1, Field(2, version) + Field(3, continue_token));
  for (const WireObject& item : items) raw += Field(2, Raw(item));
  return Enveloped("NodeList", raw);
}

inline std::string JsonEvent(std::string_view type, const WireObject& object) {
  return fmt::format(
      "{{\"type\":\"{}\",\"object\":{{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":"
      "{{\"name\":\"{}\",\"uid\":\"{}\",\"resourceVersion\":\"{}\"}}{}}}}}\n",
      type, object.name, object.uid, object.version,
      object.broken ? ",\"status\":{\"allocatable\":{\"cpu\":\"abc\"}}" : "");
}

inline std::string JsonBookmark(std::string_view version, bool initial_end) {
  return fmt::format(
      "{{\"type\":\"BOOKMARK\",\"object\":{{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":"
      "{{\"resourceVersion\":\"{}\",\"annotations\":{{{}}}}}}}}}\n",
      version, initial_end ? "\"k8s.io/initial-events-end\":\"true\"" : "");
}

// Of objects that do not say what they are, as in a list of one kind.
inline std::string JsonNodeList(const std::vector<WireObject>& items, std::string_view version,
                                std::string_view continue_token) {
  std::string out;
  for (const WireObject& item : items) {
    out += fmt::format(
        "{}{{\"metadata\":{{\"name\":\"{}\",\"uid\":\"{}\",\"resourceVersion\":\"{}\"}}{}}}",
        out.empty() ? "" : ",", item.name, item.uid, item.version,
        item.broken ? ",\"status\":{\"allocatable\":{\"cpu\":\"abc\"}}" : "");
  }
  return fmt::format(
      "{{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{}\","
      "\"continue\":\"{}\"}},\"items\":[{}]}}",
      version, continue_token, out);
}

inline std::string JsonStatus(int code, std::string_view message) {
  return fmt::format("{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"{}\",\"code\":{}}}",
                     message, code);
}

}  // namespace knx::client::testing
