// compare-objects: takes the lines of knx-objects (tools/objects) and reads every object of them as
// JSON and as protobuf. Both must give the same object, or both refuse it. Ends with 1 at the first
// difference.
#include <absl/strings/escaping.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include "k8s/kind_name.h"
#include "k8s/proto_frames.h"
#include "k8s/read_object.h"
#include "k8s/read_proto.h"

namespace knx::k8s {
namespace {

namespace dom = simdjson::dom;

// Below this share of the objects of a kind that are not refused, too little is compared.
constexpr double kLeastPercent = 30;

struct Counts {
  std::uint64_t read = 0, refused = 0;
};

class Comparison {
 public:
  // What is different, if anything is.
  Result<std::optional<std::string>> Line(const std::string& line);
  // Prints what was compared; false if it was too little.
  [[nodiscard]] bool Report() const;

 private:
  using Difference = std::optional<std::string>;

  Difference Same(dom::element json, const ReceivedObject& received);
  Difference SameList(dom::element line, std::string_view body);
  Difference SameWatch(dom::element line, std::string_view stream);
  Difference SameEvent(std::string_view type, dom::element json, std::string_view frame);

  std::map<std::string, Counts> kinds_;
  std::uint64_t events_ = 0, lists_ = 0;
};

std::string TextAt(dom::element json, std::string_view pointer) {
  std::string_view text;
  return json.at_pointer(pointer).get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

std::optional<std::string> Comparison::Same(dom::element json, const ReceivedObject& received) {
  const Result<Object> expected = ReadJsonObject(simdjson::minify(json));
  const auto* object = std::get_if<Object>(&received.read);
  const auto* refused = std::get_if<RefusedObject>(&received.read);
  Counts& counts = kinds_[TextAt(json, "/kind")];
  ++(expected.ok() ? counts.read : counts.refused);
  if (received.resource_version != TextAt(json, "/metadata/resourceVersion")) {
    return fmt::format("resourceVersion is {}", received.resource_version);
  }
  if (expected.ok() && object == nullptr) {
    return fmt::format("refused: {}", refused->why.ToString());
  }
  if (!expected.ok() && object != nullptr) {
    return fmt::format("only the JSON is refused: {}", expected.error().ToString());
  }
  if (expected.ok() && *object != *expected) return "read differently";
  if (refused != nullptr && (refused->name != TextAt(json, "/metadata/name") ||
                             refused->namespace_ != TextAt(json, "/metadata/namespace"))) {
    return "a refused object is called differently";
  }
  return std::nullopt;
}

std::optional<std::string> Comparison::SameList(dom::element line, std::string_view body) {
  ++lists_;
  const Result<ObjectList> list = ReadProtoList(body);
  if (!list.ok()) return list.error().ToString();
  if (list->resource_version != TextAt(line, "/version") ||
      list->continue_token != TextAt(line, "/continue")) {
    return "metadata of the list";
  }
  std::size_t i = 0;
  for (const dom::element object : line["objects"].get_array()) {
    if (i == list->items.size()) return "items are missing";
    if (auto difference = Same(object, list->items[i++])) return difference;
  }
  return i == list->items.size() ? std::nullopt : std::optional<std::string>("too many items");
}

std::optional<std::string> Comparison::SameEvent(std::string_view type, dom::element json,
                                                 std::string_view frame) {
  ++events_;
  const Result<WatchEvent> event = ReadProtoEvent(frame);
  if (!event.ok()) return event.error().ToString();
  if (const auto* mark = std::get_if<Bookmark>(&*event)) {
    const Bookmark expected{
        TextAt(json, "/metadata/resourceVersion"),
        TextAt(json, "/metadata/annotations/k8s.io~1initial-events-end") == "true"};
    if (type == "BOOKMARK" && *mark == expected) return std::nullopt;
    return "a bookmark";
  }
  if (const auto* status = std::get_if<ApiStatus>(&*event)) {
    const ApiStatus expected{410, TextAt(json, "/reason"), TextAt(json, "/message"), 3};
    if (type == "ERROR" && *status == expected) return std::nullopt;
    return "a status";
  }
  const auto& change = std::get<ObjectChange>(*event);
  constexpr std::string_view kWords[] = {"ADDED", "MODIFIED", "DELETED"};
  if (kWords[static_cast<int>(change.type)] != type) return "the type of an event";
  return Same(json, change.object);
}

std::optional<std::string> Comparison::SameWatch(dom::element line, std::string_view stream) {
  FrameSplitter splitter;
  auto types = line["types"].get_array().begin();
  auto objects = line["objects"].get_array().begin();
  const auto end = line["types"].get_array().end();
  // In pieces as no network makes them.
  for (std::size_t piece = 1; !stream.empty(); piece = piece * 2 % 1021) {
    splitter.Append(stream.substr(0, piece));
    stream.remove_prefix(std::min(piece, stream.size()));
    while (true) {
      const auto frame = splitter.Next();
      if (!frame.ok()) return frame.error().ToString();
      if (!*frame) break;
      if (types == end) return "too many frames";
      if (auto difference = SameEvent(std::string_view(*types), *objects, **frame)) {
        return difference;
      }
      ++types;
      ++objects;
    }
  }
  return types == end && splitter.empty() ? std::nullopt
                                          : std::optional<std::string>("frames are missing");
}

Result<std::optional<std::string>> Comparison::Line(const std::string& text) {
  dom::parser parser;
  dom::element line;
  std::string body;
  if (parser.parse(text).get(line) != simdjson::SUCCESS ||
      !absl::Base64Unescape(TextAt(line, "/proto"), &body)) {
    return InvalidError("not a line of knx-objects");
  }
  const std::string shape = TextAt(line, "/shape");
  if (shape == "list") return SameList(line, body);
  if (shape == "watch") return SameWatch(line, body);
  ReceivedObject received;
  Result<Object> object = ReadProtoObject(body);
  const dom::element json = line["objects"].at(0);
  received.resource_version = TextAt(json, "/metadata/resourceVersion");
  if (object.ok()) {
    received.read = *std::move(object);
  } else {
    received.read = RefusedObject{"",
                                  "",
                                  TextAt(json, "/metadata/namespace"),
                                  TextAt(json, "/metadata/name"),
                                  "",
                                  object.error()};
  }
  return Same(json, received);
}

bool Comparison::Report() const {
  bool enough = true;
  for (const auto& [kind, counts] : kinds_) {
    const double percent = 100.0 * static_cast<double>(counts.read) /
                           static_cast<double>(counts.read + counts.refused);
    fmt::print("  {:<25}{:8} read, {:6} refused\n", kind, counts.read, counts.refused);
    if (percent < kLeastPercent) {
      fmt::print("too few {} are right: little is compared\n", kind);
      enough = false;
    }
  }
  fmt::print("{} lists, {} events of watches; JSON and protobuf were read alike\n", lists_,
             events_);
  return enough && lists_ > 0 && events_ > 0;
}

int Run() {
  Comparison comparison;
  std::string line;
  std::uint64_t number = 0;
  while (std::getline(std::cin, line)) {
    ++number;
    const auto difference = comparison.Line(line);
    if (difference.ok() && !*difference) continue;
    fmt::print("{}\nline {}: {}\n", line, number,
               difference.ok() ? **difference : difference.error().ToString());
    return 1;
  }
  return comparison.Report() ? 0 : 1;
}

}  // namespace
}  // namespace knx::k8s

int main() { return knx::k8s::Run(); }
