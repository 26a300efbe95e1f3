#include "recording.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "client/json_watch.h"
#include "client/read_file.h"
#include "k8s/kind_name.h"
#include "k8s/proto_frames.h"

namespace knx::storm {
namespace {

// The last digits of a name and of a uid say which one of many it is.
constexpr std::size_t kNodeDigits = 4, kPodDigits = 5, kUidDigits = 12;

// Digits into the room that is there for them.
void WriteNumber(int number, char* end, std::size_t digits) {
  for (; digits > 0; --digits, number /= 10) *--end = static_cast<char>('0' + number % 10);
}

Result<Role> RoleOf(const k8s::Object& object) {
  if (std::holds_alternative<k8s::Node>(object)) return Role::kNode;
  const std::string_view name = MetaOf(object).name;
  if (name.starts_with("web-")) return Role::kResident;
  if (name.starts_with("churn-")) return Role::kPassing;
  if (name.starts_with("canary-")) return Role::kCanary;
  if (name.starts_with("waits-")) return Role::kWaits;
  return InvalidError(fmt::format("nobody knows what {} is for", name));
}

// The frame again as it was sent.
std::string Framed(std::string_view frame) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(frame.size() >> shift);
  return out.append(frame);
}

}  // namespace

Mould::Mould(std::string bytes, const k8s::Object& object)
    : bytes_(std::move(bytes)), name_(MetaOf(object).name) {
  const auto* pod = std::get_if<k8s::Pod>(&object);
  LeaveGaps(MetaOf(object).uid, kUidDigits, false);
  LeaveGaps(name_, pod == nullptr ? kNodeDigits : kPodDigits, false);
  if (pod != nullptr) LeaveGaps(pod->spec.node_name, kNodeDigits, true);
}

void Mould::LeaveGaps(std::string_view text, std::size_t digits, bool is_node) {
  if (text.empty()) return;
  for (std::size_t at = bytes_.find(text); at != std::string::npos;
       at = bytes_.find(text, at + text.size())) {
    gaps_.push_back({at + text.size() - digits, digits, is_node});
  }
}

void Mould::Cast(const Identity& identity, std::string& out) const {
  const std::size_t begin = out.size();
  out += bytes_;
  for (const Gap& gap : gaps_) {
    WriteNumber(gap.is_node ? identity.node : identity.number,
                out.data() + begin + gap.at + gap.digits, gap.digits);
  }
}

std::string Mould::NameOf(int number) const {
  std::string out = name_;
  WriteNumber(number, out.data() + out.size(), kPodDigits);
  return out;
}

Result<Recording> Recording::Read(const std::string& folder, Encoding encoding) {
  Recording out;
  out.encoding_ = encoding;
  for (const char* kind : {"nodes", "pods"}) {
    const std::string path =
        fmt::format("{}/{}.{}", folder, kind, encoding == Encoding::kJson ? "json" : "pb");
    KNX_TRY(const std::string stream, client::ReadFile(path));
    if (auto taken = out.Take(stream); !taken.ok()) return std::move(taken).error().Within(path);
  }
  KNX_TRY_DONE(out.CheckWhole());
  return out;
}

const char* Recording::content_type() const {
  return encoding_ == Encoding::kJson ? "application/json"
                                      : "application/vnd.kubernetes.protobuf;stream=watch";
}

Status Recording::Take(std::string_view stream) {
  k8s::FrameSplitter frames;
  client::LineSplitter lines(k8s::kMaxFrameBytes);
  const bool json = encoding_ == Encoding::kJson;
  json ? lines.Append(stream) : frames.Append(stream);
  for (;;) {
    KNX_TRY(const auto event, json ? lines.Next() : frames.Next());
    if (!event) return Ok();
    KNX_TRY_DONE(TakeEvent(*event));
  }
}

Status Recording::TakeEvent(std::string_view event) {
  const bool json = encoding_ == Encoding::kJson;
  std::string bytes = json ? fmt::format("{}\n", event) : Framed(event);
  KNX_TRY(const k8s::WatchEvent read,
          json ? client::ReadJsonEvent(event) : k8s::ReadProtoEvent(event));
  if (const auto* bookmark = std::get_if<k8s::Bookmark>(&read)) {
    if (bookmark->initial_events_end) end_of_list_ = std::move(bytes);
    return Ok();
  }
  const auto* change = std::get_if<k8s::ObjectChange>(&read);
  const auto* object = change == nullptr ? nullptr : std::get_if<k8s::Object>(&change->object.read);
  if (object == nullptr) return InvalidError("an event that is no change of an object");
  KNX_TRY(const Role role, RoleOf(*object));
  Life& life = lives_[static_cast<std::size_t>(role)];
  std::vector<Mould>& moulds = change->type == k8s::ChangeType::kAdded      ? life.added
                               : change->type == k8s::ChangeType::kModified ? life.changed
                                                                            : life.gone;
  moulds.emplace_back(std::move(bytes), *object);
  return Ok();
}

Status Recording::CheckWhole() const {
  const auto has = [&](Role role, std::size_t changes, bool end) {
    const Life& one = life(role);
    return one.added.size() == 1 && one.changed.size() >= changes &&
           one.gone.size() == (end ? 1 : 0);
  };
  const bool whole = has(Role::kNode, 4, false) && has(Role::kResident, 2, false) &&
                     has(Role::kPassing, 3, true) && has(Role::kCanary, 1, true) &&
                     has(Role::kWaits, 0, false) && !end_of_list_.empty();
  return whole ? Ok() : Status(InvalidError("the recording lacks something; record.py makes it"));
}

}  // namespace knx::storm
