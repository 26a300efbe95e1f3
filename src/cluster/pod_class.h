// Pods that no plugin can tell apart share a class: what they ask for is kept, and judged, once.
// The key holds only what decisions read. Labels are not part of it unless a selector reads them,
// so the pods of a StatefulSet or an indexed Job are one class although each has a label of its
// own.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_map.h"
#include "cluster/class_terms.h"
#include "cluster/host_ports.h"
#include "cluster/ids.h"
#include "cluster/resources.h"
#include "k8s/objects.h"

namespace knx::cluster {

// A claim that a pod names, or that is made for it.
struct ClaimUse {
  std::string key;  // "namespace/name"
  bool ephemeral = false;
  friend bool operator==(const ClaimUse&, const ClaimUse&) = default;
};

struct PodClass {
  k8s::PodSpec spec;
  ResourceVector requests;  // what its pods take from a node
  std::int64_t assumed_cpu = 0, assumed_memory = 0;
  std::vector<HostPort> ports;
  std::vector<ClaimUse> claims;  // in the order of the volumes
  // Of a class with claims their namespace; with claims made for its pod also that pod, which is
  // then the only one of the class. Empty otherwise.
  std::string claim_namespace, claim_pod, claim_pod_uid;
  ClassTerms terms;          // what its pods want of other pods
  std::uint64_t serial = 0;  // never used again, unlike the id
  std::uint32_t pods = 0;    // that are of this class now
  std::string key;
};

class ClassTable {
 public:
  ClassTable(SymbolTable& words, Kinship& kinship);
  ~ClassTable();

  // The class of a pod with `spec` and `meta`; counts one more pod in it. Where a pod is does not
  // make it a pod of another kind.
  ClassId Acquire(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta, ResourceNames& names);
  void AcquireAgain(ClassId id) { ++classes_[id.index].pods; }
  // A class without pods is forgotten.
  void Release(ClassId id);

  [[nodiscard]] const PodClass& Get(ClassId id) const { return classes_[id.index]; }
  [[nodiscard]] std::size_t size() const { return index_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  SymbolTable& words_;
  Kinship& kinship_;
  std::deque<PodClass> classes_;  // a deque, so that a class stays where it is while others come
  std::vector<ClassId> free_;
  TextMap<ClassId> index_;
  std::uint64_t next_serial_ = 1;
  std::string scratch_;  // the key under construction, kept for its capacity
};

// The bytes that are equal for two pods exactly if no plugin can tell them apart, but for how other
// pods stand to them. Where a pod is does not make it a pod of another kind.
void AppendClassKey(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta, std::string& out);

// Whether pods with this spec want something of other pods.
bool SpeaksOfPods(const k8s::PodSpec& spec);

}  // namespace knx::cluster
