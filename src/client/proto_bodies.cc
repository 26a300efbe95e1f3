#include "client/proto_bodies.h"

#include "base/quoted_text.h"
#include "k8s/proto_writer.h"

namespace knx::client {
namespace {

using k8s::ProtoWriter;

// Numbers of fields, as in the published definitions of Kubernetes' types.
namespace meta {
enum Field : std::uint32_t { kName = 1, kNamespace = 3, kUid = 5 };
}
namespace micro_time {
enum Field : std::uint32_t { kSeconds = 1, kNanos = 2 };
}
namespace reference {
enum Field : std::uint32_t { kKind = 1, kNamespace = 2, kName = 3, kUid = 4, kApiVersion = 5 };
}
namespace binding {
enum Field : std::uint32_t { kMetadata = 1, kTarget = 2 };
}
namespace event_of_pod {
enum Field : std::uint32_t {
  kMetadata = 1,
  kEventTime = 2,
  kReportingController = 4,
  kReportingInstance = 5,
  kAction = 6,
  kReason = 7,
  kRegarding = 8,
  kRelated = 9,
  kNote = 10,
  kType = 11,
};
}

ProtoWriter ReferenceTo(const PodName& object, std::string_view api_version = "v1",
                        std::string_view kind = "Pod") {
  ProtoWriter out;
  out.Text(reference::kKind, kind);
  out.Text(reference::kNamespace, object.namespace_);
  out.Text(reference::kName, object.name);
  out.Text(reference::kUid, object.uid);
  out.Text(reference::kApiVersion, api_version);
  return out;
}

ProtoWriter Moment(Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000, kMicrosecond = 1000;
  ProtoWriter out;
  out.Number(micro_time::kSeconds, static_cast<std::uint64_t>(time.ns / kSecond));
  out.Number(micro_time::kNanos,
             static_cast<std::uint64_t>(time.ns % kSecond / kMicrosecond * kMicrosecond));
  return out;
}

}  // namespace

std::string BindingBody(const PodName& pod, std::string_view node) {
  ProtoWriter metadata, target, out;
  metadata.Text(meta::kName, pod.name);
  metadata.Text(meta::kNamespace, pod.namespace_);
  metadata.Text(meta::kUid, pod.uid);
  target.Text(reference::kKind, "Node");
  target.Text(reference::kName, node);
  out.Message(binding::kMetadata, metadata);
  out.Message(binding::kTarget, target);
  return out.Enveloped("v1", "Binding");
}

std::string EventBody(const PodEvent& event, std::string_view name) {
  ProtoWriter metadata;
  metadata.Text(meta::kName, name);
  metadata.Text(meta::kNamespace, event.regarding.namespace_);
  ProtoWriter out;
  out.Message(event_of_pod::kMetadata, metadata);
  out.Message(event_of_pod::kEventTime, Moment(event.when));
  out.Text(event_of_pod::kReportingController, event.controller);
  out.Text(event_of_pod::kReportingInstance, event.instance);
  out.Text(event_of_pod::kAction, event.action);
  out.Text(event_of_pod::kReason, event.reason);
  out.Message(event_of_pod::kRegarding,
              ReferenceTo(event.regarding, event.api_version, event.kind));
  if (event.related) out.Message(event_of_pod::kRelated, ReferenceTo(*event.related));
  out.Text(event_of_pod::kNote, Utf8(event.note));
  out.Text(event_of_pod::kType, event.warning ? "Warning" : "Normal");
  return out.Enveloped("events.k8s.io/v1", "Event");
}

}  // namespace knx::client
