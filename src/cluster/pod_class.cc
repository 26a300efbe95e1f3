#include "cluster/pod_class.h"

#include "base/check.h"
#include "k8s/names.h"
#include "k8s/pod_requests.h"

namespace knx::cluster {
namespace {

void ListClaims(const k8s::ObjectMeta& pod, PodClass& out) {
  for (const k8s::Volume& volume : out.spec.volumes) {
    const bool ephemeral = volume.source == k8s::VolumeSource::kEphemeral;
    if (!ephemeral && volume.source != k8s::VolumeSource::kClaim) continue;
    out.claims.push_back(
        {pod.namespace_ + "/" + (ephemeral ? pod.name + "-" + volume.name : volume.id), ephemeral});
    out.claim_namespace = pod.namespace_;
    if (!ephemeral) continue;
    out.claim_pod = pod.name;
    out.claim_pod_uid = pod.uid;
  }
}

}  // namespace

ClassTable::ClassTable(SymbolTable& words, Kinship& kinship) : words_(words), kinship_(kinship) {}
ClassTable::~ClassTable() = default;

ClassId ClassTable::Acquire(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta,
                            ResourceNames& names) {
  scratch_.clear();
  AppendClassKey(spec, meta, scratch_);
  if (const auto it = index_.find(scratch_); it != index_.end()) {
    ++classes_[it->second.index].pods;
    return it->second;
  }
  ClassId id{static_cast<std::uint32_t>(classes_.size())};
  if (free_.empty()) {
    classes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  PodClass& made = classes_[id.index];
  made.spec = spec;
  made.spec.node_name.clear();
  made.requests = ToResourceVector(k8s::PodRequests(spec), names);
  const k8s::AssumedUsage assumed = k8s::AssumedPodUsage(spec);
  made.assumed_cpu = assumed.milli_cpu;
  made.assumed_memory = assumed.memory;
  made.ports = HostPortsOf(spec);
  ListClaims(meta, made);
  if (SpeaksOfPods(spec)) made.terms = AcquireTerms(spec, meta, words_, kinship_);
  made.serial = next_serial_++;
  made.pods = 1;
  made.key = scratch_;
  index_.emplace(scratch_, id);
  return id;
}

void ClassTable::Release(ClassId id) {
  PodClass& pod_class = classes_[id.index];
  KNX_CHECK(pod_class.pods > 0, "a class lost more pods than it had");
  if (--pod_class.pods > 0) return;
  index_.erase(pod_class.key);
  ReleaseTerms(pod_class.terms, kinship_);
  pod_class = {};
  free_.push_back(id);
}

std::size_t ClassTable::bytes() const {
  std::size_t total = classes_.size() * sizeof(PodClass) + free_.capacity() * sizeof(ClassId) +
                      index_.capacity() * (sizeof(std::string) + sizeof(ClassId) + 1);
  for (const PodClass& pod_class : classes_) {
    // The spec holds about what the key does, in separate pieces.
    total += 4 * pod_class.key.capacity() + pod_class.requests.capacity() * sizeof(ResourceAmount);
  }
  return total;
}

}  // namespace knx::cluster
