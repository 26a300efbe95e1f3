#include "sim/job_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "k8s/owner.h"
#include "k8s/selector.h"
#include "scenario/annotations.h"
#include "sim/workload_controller.h"

namespace knx::sim {
namespace {

constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";
// There cannot be more pods than that, so nobody asks for an index beyond.
constexpr std::int32_t kMaxIndex = 1'000'000;
constexpr Duration kLongestBackoff = Duration::Minutes(10);

std::optional<std::int32_t> IndexOf(const k8s::Pod& pod) {
  const std::string* text = k8s::FindValue(pod.meta.annotations, kIndex);
  if (text == nullptr) return std::nullopt;
  std::int32_t index = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), index);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return index;
}

// "1,3-5". What is not a range, or does not come after the one before it, is passed over.
void AddIndexes(std::string_view text, std::set<std::int32_t>& out) {
  std::int32_t next = 0;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(range.size() + 1, text.size()));
    const char* const begin = range.data();
    const char* const end = begin + range.size();
    std::int32_t first = 0;
    const auto [after, error] = std::from_chars(begin, end, first);
    if (error != std::errc()) continue;
    std::int32_t last = first;
    if (after != end && *after == '-') std::from_chars(after + 1, end, last);
    for (next = std::max(first, next); next <= std::min(last, kMaxIndex); ++next) out.insert(next);
  }
}

}  // namespace

JobController::JobController(Agenda& agenda, Store& store, ApiServer& api, const Timing& timing)
    : agenda_(agenda), store_(store), api_(api), timing_(timing) {
  store.Listen(*this);
}

void JobController::OnWrite(const Write<k8s::Job>& write) {
  const std::string& uid = write.any().meta.uid;
  if (write.after == nullptr) {
    progress_.erase(uid);
    agenda_.After(timing_.controller, [this, uid] { DeletePods(uid, true); });
    return;
  }
  progress_[uid].key = KeyOf(*write.after);
  Enqueue(KeyOf(*write.after));
}

void JobController::OnWrite(const Write<k8s::Pod>& write) {
  const k8s::OwnerReference* owner = ControllerOf(write.any().meta);
  if (owner == nullptr) return;
  const auto found = progress_.find(owner->uid);
  if (found != progress_.end()) Enqueue(found->second.key);
}

void JobController::Enqueue(const std::string& key) {
  if (!pending_.insert(key).second) return;
  agenda_.After(timing_.controller, [this, key] {
    pending_.erase(key);
    Reconcile(key);
  });
}

void JobController::Count(const k8s::Job& job, Progress& progress, Census& census) {
  for (const std::string& key : store_.PodsOf(job.meta.uid)) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    const std::optional<std::int32_t> index = IndexOf(*pod);
    if (pod->status.phase == k8s::PodPhase::kSucceeded) {
      progress.succeeded.insert(pod->meta.uid);
      if (index.has_value()) progress.done_indexes.insert(*index);
    } else if (pod->status.phase == k8s::PodPhase::kFailed) {
      if (!progress.failed.insert(pod->meta.uid).second) continue;
      const std::int64_t doublings = std::min<std::int64_t>(progress.all_failed() - 1, 10);
      const Duration backoff = timing_.job_backoff * (std::int64_t{1} << doublings);
      progress.retry_at = agenda_.now() + std::min(backoff, kLongestBackoff);
    } else if (pod->meta.deleted.has_value()) {
      ++census.leaving;
    } else {
      ++census.active;
      if (index.has_value()) census.taken_indexes.insert(*index);
    }
  }
}

// A status counts pods that may be there as well.
void JobController::Resume(const k8s::Job& job, Progress& progress) {
  if (std::exchange(progress.resumed, true)) return;
  const auto beyond = [](std::int64_t said, const std::set<std::string>& there) {
    return std::max<std::int64_t>(said - static_cast<std::int64_t>(there.size()), 0);
  };
  progress.succeeded_before = beyond(job.status.succeeded, progress.succeeded);
  progress.failed_before = beyond(job.status.failed, progress.failed);
  AddIndexes(job.status.completed_indexes, progress.done_indexes);
  progress.over = job.status.over;
}

void JobController::Reconcile(const std::string& key) {
  const Ptr<k8s::Job> job = store_.Find<k8s::Job>(key);
  if (job == nullptr) return;
  Progress& progress = progress_[job->meta.uid];
  Census census;
  Count(*job, progress, census);
  Resume(*job, progress);
  if (job->completions.has_value() && progress.all_succeeded() >= *job->completions) {
    progress.over = true;
  }
  if (progress.over) return;
  if (job->suspend) return DeletePods(job->meta.uid, false);
  if (progress.all_failed() > job->backoff_limit) return GiveUp(*job, progress);
  if (job->active_deadline_seconds.has_value()) {
    constexpr std::int64_t kMaxSeconds = kMaxSpan.ns / 1'000'000'000;
    const Time deadline = *job->meta.created +
                          Duration::Seconds(std::min(*job->active_deadline_seconds, kMaxSeconds));
    if (deadline <= agenda_.now()) return GiveUp(*job, progress);
    agenda_.At(deadline, [this, key] { Enqueue(key); });
  }
  if (agenda_.now() < progress.retry_at) {
    agenda_.At(progress.retry_at, [this, key] { Enqueue(key); });
    return;
  }
  CreatePods(*job, progress, std::move(census));
}

std::vector<std::string> JobController::Endless() const {
  std::set<std::string> out;
  for (const auto& [uid, progress] : progress_) {
    const Ptr<k8s::Job> job = store_.Find<k8s::Job>(progress.key);
    if (progress.over || job == nullptr || job->active_deadline_seconds.has_value()) continue;
    for (const std::string& key : store_.PodsOf(uid)) {
      const PodPtr pod = store_.Find<k8s::Pod>(key);
      const bool runs = pod->status.phase == k8s::PodPhase::kRunning && !pod->meta.deleted;
      const bool ends = pod->spec.active_deadline_seconds.has_value() ||
                        k8s::FindValue(pod->meta.annotations, scenario::kRunFor) != nullptr;
      if (runs && !ends) out.insert(progress.key);
    }
  }
  return {out.begin(), out.end()};
}

void JobController::GiveUp(const k8s::Job& job, Progress& progress) {
  progress.over = true;
  DeletePods(job.meta.uid, false);
}

void JobController::CreatePods(const k8s::Job& job, const Progress& progress, Census census) {
  const std::int64_t succeeded = progress.all_succeeded();
  std::int64_t wanted = job.parallelism;
  if (job.completions.has_value()) {
    wanted = std::min<std::int64_t>(wanted, *job.completions - succeeded);
  } else if (succeeded > 0) {
    wanted = 0;  // a queue of work that is empty: no new pods
  }
  std::int32_t index = 0;
  for (std::int64_t have = census.active + census.leaving; have < wanted; ++have) {
    std::optional<std::int32_t> chosen;
    if (job.indexed) {
      while (progress.done_indexes.contains(index) || census.taken_indexes.contains(index)) ++index;
      if (job.completions.has_value() && index >= *job.completions) return;
      chosen = index;
      census.taken_indexes.insert(index);
    }
    if (!CreatePod(job, chosen)) return;
  }
}

bool JobController::CreatePod(const k8s::Job& job, std::optional<std::int32_t> index) {
  k8s::Pod pod = PodFromTemplate(job.pod_template, "Job", job.meta);
  for (const std::string_view prefix : {"", "batch.kubernetes.io/"}) {
    SetLabel(pod.meta.labels, fmt::format("{}job-name", prefix), job.meta.name);
    SetLabel(pod.meta.labels, fmt::format("{}controller-uid", prefix), job.meta.uid);
  }
  std::string prefix = job.meta.name + "-";
  if (index.has_value()) {
    SetLabel(pod.meta.labels, kIndex, fmt::format("{}", *index));
    SetLabel(pod.meta.annotations, kIndex, fmt::format("{}", *index));
    prefix += fmt::format("{}-", *index);
  }
  pod.meta.name = store_.NewPodName(job.meta.namespace_, prefix);
  const auto created = api_.Create(std::move(pod), Actor::kController);
  if (created.ok()) return true;
  complaints_.try_emplace(fmt::format("Job {}", KeyOf(job)), created.error().message);
  agenda_.After(
      Duration::Seconds(30), [this, key = KeyOf(job)] { Enqueue(key); },
      Agenda::Weight::kBackground);
  return false;
}

void JobController::DeletePods(const std::string& uid, bool finished_too) {
  const std::set<std::string> keys = store_.PodsOf(uid);
  for (const std::string& key : keys) {
    if (!finished_too && IsFinished(*store_.Find<k8s::Pod>(key))) continue;
    (void)api_.DeletePod(key, Actor::kController);
  }
}

}  // namespace knx::sim
