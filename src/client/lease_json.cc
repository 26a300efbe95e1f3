#include "client/lease_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/quoted_text.h"
#include "client/micro_time.h"

namespace knx::client {
namespace {

// Fields may be missing or null; what is there must be right.
bool ReadText(simdjson::dom::element spec, const char* key, std::string& out) {
  const auto field = spec[key];
  if (field.error() == simdjson::NO_SUCH_FIELD || field.is_null()) return true;
  std::string_view text;
  if (field.get(text) != simdjson::SUCCESS) return false;
  out = text;
  return true;
}

bool ReadNumber(simdjson::dom::element spec, const char* key, std::int64_t& out) {
  const auto field = spec[key];
  if (field.error() == simdjson::NO_SUCH_FIELD || field.is_null()) return true;
  return field.get(out) == simdjson::SUCCESS;
}

// A time is compared and shown, never reckoned with, so one that cannot be read does no harm.
bool ReadMoment(simdjson::dom::element spec, const char* key, Time& out) {
  std::string text;
  if (!ReadText(spec, key, text)) return false;
  if (const auto time = ParseTime(text); time.ok()) out = *time;
  return true;
}

}  // namespace

Result<StoredLease> ReadLease(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root, metadata, spec;
  StoredLease out;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
      root["metadata"].get(metadata) != simdjson::SUCCESS || !metadata.is_object()) {
    return InvalidError("the server's answer is no Lease");
  }
  out.metadata = simdjson::minify(metadata);
  const auto found = root["spec"];
  if (found.error() == simdjson::NO_SUCH_FIELD || found.is_null()) return out;
  LeaseRecord& record = out.record;
  const bool good = found.get(spec) == simdjson::SUCCESS && spec.is_object() &&
                    ReadText(spec, "holderIdentity", record.holder) &&
                    ReadNumber(spec, "leaseDurationSeconds", record.duration_seconds) &&
                    ReadMoment(spec, "acquireTime", record.acquired) &&
                    ReadMoment(spec, "renewTime", record.renewed) &&
                    ReadNumber(spec, "leaseTransitions", record.transitions);
  if (!good) return InvalidError("the server's answer is no Lease");
  return out;
}

std::string WriteLease(const LeaseRecord& record, std::string_view metadata) {
  return fmt::format(
      R"({{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{},"spec":{{)"
      R"("holderIdentity":{},"leaseDurationSeconds":{},"acquireTime":{},"renewTime":{},)"
      R"("leaseTransitions":{}}}}})",
      metadata, QuotedText(record.holder), record.duration_seconds, MicroMoment(record.acquired),
      MicroMoment(record.renewed), record.transitions);
}

std::string NewLeaseMetadata(std::string_view namespace_, std::string_view name) {
  return fmt::format(R"({{"namespace":{},"name":{}}})", QuotedText(namespace_), QuotedText(name));
}

}  // namespace knx::client
