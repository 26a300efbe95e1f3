#include "client/event_recorder.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "client/micro_time.h"
#include "client/proto_bodies.h"
#include "k8s/proto_writer.h"

namespace knx::client {
namespace {

// As long as kube-scheduler waits for a repeat.
constexpr Duration kSilenceEndsIt = Duration::Minutes(6);
constexpr Duration kWriteCountEvery = Duration::Minutes(1);
constexpr std::size_t kMostSeries = 10'000;
constexpr std::size_t kLongestName = 253;  // that the API server takes

std::string EventsOf(const PodName& pod) {
  return fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", pod.namespace_);
}

// What two events must have in common to be one and its repeat.
std::size_t KeyOf(const PodEvent& event) {
  const PodName related = event.related.value_or(PodName{});
  return std::hash<std::string>{}(fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", event.kind, event.regarding.namespace_,
      event.regarding.name, event.regarding.uid, related.namespace_, related.name, related.uid,
      event.warning, event.reason, event.action, event.controller, event.note));
}

// Of an event about something by that name, which may itself be as long as names can be. What comes
// after it makes it unique; a part of a name must not end with what is cut.
std::string NameOfEvent(std::string_view regarding, Time when, std::uint64_t number) {
  const std::string unique = fmt::format(".{:x}.{:x}", when.ns, number);
  std::string name(regarding.substr(0, kLongestName - unique.size()));
  while (name.ends_with('.') || name.ends_with('-')) name.pop_back();
  return name + unique;
}

bool IsPowerOfTwo(std::int64_t n) { return (n & (n - 1)) == 0; }

}  // namespace

EventRecorder::Series* EventRecorder::Find(Key key, const std::string& name) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() || found->second->name != name ? nullptr : &*found->second;
}

void EventRecorder::Forget(Key key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  series_.erase(found->second);
  by_key_.erase(found);
}

void EventRecorder::Record(const PodEvent& event, Done done) {
  if (const std::size_t waiting = api_.patient_calls(); waiting >= most_waiting_) {
    return done(Error{ErrorKind::kUnavailable,
                      fmt::format("{} wait to be written, and this one is left out", waiting),
                      {}});
  }
  while (!series_.empty() &&
         (series_.size() >= kMostSeries || event.when - series_.front().last >= kSilenceEndsIt)) {
    Forget(series_.front().key);
  }
  const Key key = KeyOf(event);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return Create(key, event, std::move(done));
  Series& series = *found->second;
  series_.splice(series_.end(), series_, found->second);
  ++series.count;
  series.last = event.when;
  const bool due = IsPowerOfTwo(series.count) || event.when - series.written_at >= kWriteCountEvery;
  if (series.busy || !due) return done(Ok());
  WriteCount(series, event, std::move(done));
}

void EventRecorder::Create(Key key, const PodEvent& event, Done done) {
  const std::string name = NameOfEvent(event.regarding.name, event.when, ++made_);
  Series& series = *series_.emplace(series_.end());
  series.key = key;
  series.name = name;
  series.last = series.written_at = event.when;
  by_key_[key] = std::prev(series_.end());
  api_.Send(
      {.method = "POST",
       .path = EventsOf(event.regarding),
       .body = EventBody(event, name),
       .content_type = std::string(k8s::kProtobufType),
       .urgent = false,
       .accept = fmt::format("{},application/json", k8s::kProtobufType)},
      [this, alive = alive_, key, name, event, done = std::move(done)](const Status& outcome) {
        if (!*alive) return;
        Series* made = Find(key, name);
        if (made != nullptr && !outcome.ok()) Forget(key);
        if (made == nullptr || !outcome.ok()) return done(outcome);
        made->busy = false;
        // What was repeated while it was on its way.
        if (made->count > made->written) return WriteCount(*made, event, done);
        done(outcome);
      });
}

void EventRecorder::WriteCount(Series& series, const PodEvent& event, Done done) {
  series.busy = true;
  series.written = series.count;
  series.written_at = series.last;
  api_.Send({.method = "PATCH",
             .path = fmt::format("{}/{}", EventsOf(event.regarding), series.name),
             .body = fmt::format(R"({{"series":{{"count":{},"lastObservedTime":{}}}}})",
                                 series.count, MicroMoment(series.last)),
             .content_type = "application/strategic-merge-patch+json",
             .urgent = false},
            [this, alive = alive_, key = series.key, name = series.name, event,
             done = std::move(done)](const Status& outcome) {
              if (!*alive) return;
              Series* written = Find(key, name);
              if (written != nullptr) written->busy = false;
              const bool gone = !outcome.ok() && outcome.error().kind == ErrorKind::kNotFound;
              if (!gone) return done(outcome);
              // The server keeps events for an hour; somebody may also have deleted it.
              if (written != nullptr) Forget(key);
              if (!by_key_.contains(key)) return Create(key, event, done);
              done(Ok());
            });
}

}  // namespace knx::client
