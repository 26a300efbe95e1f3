#include "k8s/read_proto.h"

#include <fmt/format.h>

#include "k8s/kind_name.h"
#include "k8s/known_kinds.h"
#include "k8s/names.h"
#include "k8s/proto_fields.h"
#include "k8s/proto_messages.h"
#include "k8s/proto_writer.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

constexpr std::string_view kEnvelopePrefix{"k8s\0", 4};

// What an envelope says about its content, which lies in the envelope.
struct Envelope {
  TypeMeta type;
  std::string_view raw;
};

Result<Envelope> OpenEnvelope(std::string_view body) {
  if (!body.starts_with(kEnvelopePrefix)) {
    return InvalidError("not protobuf of Kubernetes: it does not begin with \"k8s\"");
  }
  body.remove_prefix(kEnvelopePrefix.size());
  Envelope envelope;
  KNX_TRY_DONE(ReadProto(body, messages::kEnvelope, [&envelope](ProtoFields& fields) {
    fields.RequireMap("typeMeta", [&envelope](ProtoFields& type) {
      type.Require("apiVersion", envelope.type.api_version);
      type.Require("kind", envelope.type.kind);
    });
    fields.ReadView("raw", envelope.raw);
    std::string encoding;
    if (fields.Read("contentEncoding", encoding)) {
      fields.Fail("contentEncoding", fmt::format("{} is not known", Quoted(encoding)));
    }
    std::string content;
    if (fields.Read("contentType", content) && content != kProtobufType) {
      fields.Fail("contentType", fmt::format("{} is not {}", Quoted(content), kProtobufType));
    }
  }));
  return envelope;
}

Status ReadRaw(const TypeMeta& type, std::string_view raw, Object& out) {
  const KnownKind<ProtoFields>* known = FindKind<ProtoFields>(type);
  const MessageType* message = messages::MessageOf(type.kind);
  if (known == nullptr || message == nullptr) {
    return InvalidError(fmt::format("{} of apiVersion {} is not known", Quoted(type.kind),
                                    Quoted(type.api_version)));
  }
  return ReadProto(raw, *message, [&](ProtoFields& fields) { known->read(fields, out); });
}

struct PlainMeta {
  std::string namespace_, name, uid, resource_version;
  StringMap annotations;
};

// Metadata as they were sent, held to nothing.
Result<PlainMeta> ReadPlainMeta(std::string_view raw) {
  PlainMeta meta;
  KNX_TRY_DONE(ReadProto(raw, messages::kAnyObject, [&meta](ProtoFields& object) {
    object.Map("metadata", [&meta](ProtoFields& fields) {
      fields.Read("namespace", meta.namespace_);
      fields.Read("name", meta.name);
      fields.Read("uid", meta.uid);
      fields.Read("resourceVersion", meta.resource_version);
      fields.Read("annotations", meta.annotations);
    });
  }));
  return meta;
}

ReceivedObject Receive(const TypeMeta& type, std::string_view raw) {
  ReceivedObject received;
  Status status = ReadRaw(type, raw, std::get<Object>(received.read));
  if (status.ok()) {
    received.resource_version = MetaOf(std::get<Object>(received.read)).resource_version;
    return received;
  }
  RefusedObject refused{.api_version = type.api_version,
                        .kind = type.kind,
                        .namespace_ = {},
                        .name = {},
                        .uid = {},
                        .why = std::move(status).error()};
  if (Result<PlainMeta> meta = ReadPlainMeta(raw); meta.ok()) {
    refused.namespace_ = std::move(meta->namespace_);
    refused.name = std::move(meta->name);
    refused.uid = std::move(meta->uid);
    received.resource_version = std::move(meta->resource_version);
  }
  received.read = std::move(refused);
  return received;
}

Result<WatchEvent> ReadBookmark(const Envelope& envelope) {
  KNX_TRY(PlainMeta meta, ReadPlainMeta(envelope.raw));
  if (meta.resource_version.empty()) return InvalidError("a bookmark without resourceVersion");
  Bookmark bookmark{.resource_version = std::move(meta.resource_version),
                    .initial_events_end = false};
  for (const auto& [key, value] : meta.annotations) {
    if (key == names::kInitialEventsEnd && value == "true") bookmark.initial_events_end = true;
  }
  return WatchEvent(std::move(bookmark));
}

}  // namespace

Result<Object> ReadProtoObject(std::string_view body) {
  KNX_TRY(const Envelope envelope, OpenEnvelope(body));
  Object object;
  KNX_TRY_DONE(ReadRaw(envelope.type, envelope.raw, object));
  return object;
}

namespace {

// With the kind of its items in the place of its own.
Result<Envelope> OpenList(std::string_view body) {
  KNX_TRY(Envelope envelope, OpenEnvelope(body));
  constexpr std::string_view kList = "List";
  std::string& kind = envelope.type.kind;
  if (!kind.ends_with(kList) || kind.size() == kList.size()) {
    return InvalidError(fmt::format("{} is not a list of one kind", Quoted(kind)));
  }
  kind.resize(kind.size() - kList.size());
  return envelope;
}

void ReadListMeta(ProtoFields& fields, ListMeta& list) {
  fields.Map("metadata", [&list](ProtoFields& meta) {
    meta.Read("resourceVersion", list.resource_version);
    meta.Read("continue", list.continue_token);
  });
}

}  // namespace

Result<ListMeta> ReadProtoListMeta(std::string_view body) {
  KNX_TRY(const Envelope envelope, OpenList(body));
  ListMeta list;
  KNX_TRY_DONE(ReadProto(envelope.raw, messages::kList,
                         [&](ProtoFields& fields) { ReadListMeta(fields, list); }));
  return list;
}

Result<ObjectList> ReadProtoList(std::string_view body) {
  KNX_TRY(const Envelope envelope, OpenList(body));
  ObjectList list;
  KNX_TRY_DONE(ReadProto(envelope.raw, messages::kList, [&](ProtoFields& fields) {
    ReadListMeta(fields, list);
    const std::size_t count = fields.Count("items");
    if (count > kMaxListItems) {
      return fields.Fail(
          "items", fmt::format("{} are too many, at most {} are allowed", count, kMaxListItems));
    }
    // Objects are large, and would be moved whenever the vector grows.
    list.items.reserve(count);
    fields.ForEachBytes("items", [&](std::string_view item) {
      list.items.push_back(Receive(envelope.type, item));
    });
  }));
  return list;
}

Result<ApiStatus> ReadProtoStatus(std::string_view body) {
  KNX_TRY(const Envelope envelope, OpenEnvelope(body));
  if (envelope.type.kind != "Status") {
    return InvalidError(fmt::format("{} is not a Status", Quoted(envelope.type.kind)));
  }
  ApiStatus status;
  KNX_TRY_DONE(ReadProto(envelope.raw, messages::kStatus, [&status](ProtoFields& fields) {
    fields.Read("code", status.code);
    fields.Read("reason", status.reason);
    fields.Read("message", status.message);
    fields.Map("details", [&status](ProtoFields& details) {
      details.Read("retryAfterSeconds", status.retry_after_seconds);
    });
  }));
  return status;
}

Result<WatchEvent> ReadProtoEvent(std::string_view frame) {
  std::string type;
  std::string_view body;
  KNX_TRY_DONE(ReadProto(frame, messages::kWatchEvent, [&](ProtoFields& fields) {
    fields.Require("type", type);
    fields.RequireMap("object", [&body](ProtoFields& object) { object.ReadView("raw", body); });
  }));
  if (type == "ERROR") {
    KNX_TRY(ApiStatus status, ReadProtoStatus(body));
    return WatchEvent(std::move(status));
  }
  KNX_TRY(const Envelope envelope, OpenEnvelope(body));
  if (type == "BOOKMARK") return ReadBookmark(envelope);
  constexpr std::pair<std::string_view, ChangeType> kChanges[] = {
      {"ADDED", ChangeType::kAdded},
      {"MODIFIED", ChangeType::kModified},
      {"DELETED", ChangeType::kDeleted}};
  for (const auto& [word, change] : kChanges) {
    if (type != word) continue;
    return WatchEvent(ObjectChange{change, Receive(envelope.type, envelope.raw)});
  }
  return InvalidError(fmt::format("{} is not a type of event", Quoted(type)));
}

}  // namespace knx::k8s
