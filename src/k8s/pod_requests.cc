#include "k8s/pod_requests.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "k8s/names.h"

namespace knx::k8s {
namespace {

auto At(ResourceList& list, std::string_view name) {
  return std::lower_bound(
      list.begin(), list.end(), name,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
}

const Quantity* Find(const ResourceList& list, std::string_view name) {
  const auto it = std::lower_bound(
      list.begin(), list.end(), name,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return it != list.end() && it->first == name ? &it->second : nullptr;
}

// Puts combine(what is there, quantity) under `name`, or the quantity alone if nothing is there.
template <class Combine>
void Merge(ResourceList& list, const ResourceList& more, Combine combine) {
  for (const auto& [name, quantity] : more) {
    const auto it = At(list, name);
    if (it != list.end() && it->first == name) {
      it->second = combine(it->second, quantity);
    } else {
      list.emplace(it, name, quantity);
    }
  }
}

void Add(ResourceList& list, const ResourceList& more) {
  Merge(list, more, [](Quantity a, Quantity b) { return a + b; });
}

void RaiseTo(ResourceList& list, const ResourceList& more) {
  Merge(list, more, [](Quantity a, Quantity b) { return std::max(a, b); });
}

// Of what a pod says about itself as a whole only these replace the sum of its containers.
bool IsPodLevelResource(std::string_view name) {
  return name == names::kCpu || name == names::kMemory || name.starts_with("hugepages-");
}

bool HasPodLevelRequests(const PodSpec& spec) {
  return spec.resources &&
         std::any_of(spec.resources->requests.begin(), spec.resources->requests.end(),
                     [](const auto& entry) { return IsPodLevelResource(entry.first); });
}

bool ResizeRefused(const PodStatus& status) {
  const auto it =
      std::find_if(status.conditions.begin(), status.conditions.end(),
                   [](const Condition& c) { return c.type == names::kPodResizePending; });
  return it != status.conditions.end() && it->reason == names::kReasonInfeasible;
}

// What is in force while a resize is under way.
ResourceList InForce(const ResourceList& asked, const ResourceList& actuated,
                     const std::optional<ResourceList>& allocated, bool refused) {
  ResourceList out = actuated;
  if (allocated) RaiseTo(out, *allocated);
  if (!refused) RaiseTo(out, asked);
  return out;
}

const ContainerStatus* StatusOf(const PodStatus& status, std::string_view name) {
  // Names are unique in a valid pod; in others the last one counts, init containers after ordinary
  // ones.
  for (const auto* list : {&status.init_containers, &status.containers}) {
    const auto it =
        std::find_if(list->rbegin(), list->rend(), [&](const auto& s) { return s.name == name; });
    if (it != list->rend()) return &*it;
  }
  return nullptr;
}

// One way of adding up a pod.
struct Sum {
  const PodSpec& spec;
  const PodStatus* status = nullptr;  // looked at for a resize
  bool pod_level = true;
  ResourceList assumed = {};  // for containers that do not mention these
  ResourceList ResourceRequirements::* what = &ResourceRequirements::requests;

  [[nodiscard]] ResourceList Total() const;
  [[nodiscard]] ResourceList AllContainers() const;

 private:
  [[nodiscard]] ResourceList ContainerRequests(const Container& container, bool resizable) const;
};

ResourceList Sum::ContainerRequests(const Container& container, bool resizable) const {
  ResourceList out = container.resources.*what;
  if (status != nullptr && resizable) {
    const ContainerStatus* found = StatusOf(*status, container.name);
    if (found != nullptr && found->actuated) {
      out = InForce(out, *found->actuated, found->allocated, ResizeRefused(*status));
    }
  }
  for (const auto& [name, quantity] : assumed) {
    const auto it = At(out, name);
    if (it == out.end() || it->first != name) out.emplace(it, name, quantity);
  }
  return out;
}

ResourceList Sum::AllContainers() const {
  ResourceList running;
  for (const Container& container : spec.containers) {
    Add(running, ContainerRequests(container, true));
  }
  // An init container runs beside the sidecars declared before it.
  ResourceList sidecars, peak;
  for (const Container& container : spec.init_containers) {
    ResourceList requests = ContainerRequests(container, container.restart_always);
    if (container.restart_always) {
      Add(running, requests);
      Add(sidecars, requests);
      RaiseTo(peak, sidecars);
    } else {
      Add(requests, sidecars);
      RaiseTo(peak, requests);
    }
  }
  RaiseTo(running, peak);
  return running;
}

ResourceList Sum::Total() const {
  ResourceList out = AllContainers();
  if (pod_level && HasPodLevelRequests(spec)) {
    const ResourceList& asked = spec.resources->requests;
    const bool resized = status != nullptr && status->actuated;
    const ResourceList in_force =
        resized ? InForce(asked, *status->actuated, status->allocated, ResizeRefused(*status))
                : asked;
    for (const auto& entry : asked) {
      if (!IsPodLevelResource(entry.first)) continue;
      const Quantity* quantity = Find(in_force, entry.first);
      const auto it = At(out, entry.first);
      if (it == out.end() || it->first != entry.first) {
        out.emplace(it, entry.first, quantity != nullptr ? *quantity : Quantity());
      } else {
        it->second = quantity != nullptr ? *quantity : Quantity();
      }
    }
  }
  Add(out, spec.overhead);
  return out;
}

AssumedUsage ToAssumedUsage(const ResourceList& total) {
  const Quantity* cpu = Find(total, names::kCpu);
  const Quantity* memory = Find(total, names::kMemory);
  return {cpu != nullptr ? cpu->MilliValue() : 0, memory != nullptr ? memory->Value() : 0};
}

ResourceList AssumedDefaults(bool cpu, bool memory) {
  ResourceList out;
  if (cpu) out.emplace_back(names::kCpu, Quantity::FromMilli(kAssumedMilliCpu));
  if (memory) out.emplace_back(names::kMemory, Quantity::FromUnits(kAssumedMemoryBytes));
  return out;
}

AssumedUsage AssumedBy(const PodSpec& spec, const PodStatus* status) {
  if (!HasPodLevelRequests(spec)) {
    return ToAssumedUsage(Sum{spec, status, true, AssumedDefaults(true, true)}.Total());
  }
  // A pod that says something as a whole is not second-guessed about what it or any container
  // mentions.
  const ResourceList total = Sum{spec, status}.Total();
  const bool no_cpu = Find(total, names::kCpu) == nullptr;
  const bool no_memory = Find(total, names::kMemory) == nullptr;
  if (!no_cpu && !no_memory) return ToAssumedUsage(total);
  return ToAssumedUsage(Sum{spec, status, true, AssumedDefaults(no_cpu, no_memory)}.Total());
}

bool Covers(const ResourceList& asked, const ResourceList& other) {
  return std::all_of(other.begin(), other.end(), [&](const auto& entry) {
    const Quantity* quantity = Find(asked, entry.first);
    return quantity != nullptr && *quantity >= entry.second;
  });
}

// Whether the status says something about a container or a pod that the spec does not.
bool Differs(const ResourceList& asked, const std::optional<ResourceList>& actuated,
             const std::optional<ResourceList>& allocated, bool refused) {
  if (!actuated) return false;
  if (refused) return InForce(asked, *actuated, allocated, true) != asked;
  return !Covers(asked, *actuated) || (allocated && !Covers(asked, *allocated));
}

}  // namespace

ResourceList PodRequests(const PodSpec& spec) { return Sum{spec}.Total(); }

ResourceList PodRequestsInPlace(const Pod& pod) { return Sum{pod.spec, &pod.status}.Total(); }

ResourceList PodLimits(const PodSpec& spec) {
  Sum sum{spec};
  sum.what = &ResourceRequirements::limits;
  ResourceList out = sum.AllContainers();
  if (spec.resources) {
    ResourceList as_a_whole;
    for (const auto& entry : spec.resources->limits) {
      if (IsPodLevelResource(entry.first)) as_a_whole.push_back(entry);
    }
    Merge(out, as_a_whole, [](Quantity, Quantity whole) { return whole; });
  }
  for (auto& [name, limit] : out) {
    const Quantity* overhead = Find(spec.overhead, name);
    if (overhead != nullptr && !limit.IsZero()) limit = limit + *overhead;
  }
  return out;
}

bool HaveSameLimits(const PodSpec& a, const PodSpec& b) {
  const auto same = [](const std::vector<Container>& x, const std::vector<Container>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Container& p, const Container& q) {
                        return p.resources.limits == q.resources.limits;
                      });
  };
  static const ResourceList kNone;
  const ResourceList& whole_a = a.resources ? a.resources->limits : kNone;
  const ResourceList& whole_b = b.resources ? b.resources->limits : kNone;
  return same(a.containers, b.containers) && same(a.init_containers, b.init_containers) &&
         whole_a == whole_b;
}

bool HasResizeStatus(const Pod& pod) {
  const PodStatus& status = pod.status;
  const bool refused = ResizeRefused(status);
  const auto resized = [&](const Container& container) {
    const ContainerStatus* found = StatusOf(status, container.name);
    return found != nullptr &&
           Differs(container.resources.requests, found->actuated, found->allocated, refused);
  };
  for (const Container& container : pod.spec.containers) {
    if (resized(container)) return true;
  }
  for (const Container& container : pod.spec.init_containers) {
    if (container.restart_always && resized(container)) return true;
  }
  return HasPodLevelRequests(pod.spec) &&
         Differs(pod.spec.resources->requests, status.actuated, status.allocated, refused);
}

AssumedUsage AssumedPodUsage(const PodSpec& spec) { return AssumedBy(spec, nullptr); }

AssumedUsage AssumedPodUsageInPlace(const Pod& pod) { return AssumedBy(pod.spec, &pod.status); }

AssumedUsage AssumedContainerUsage(const PodSpec& spec) {
  return ToAssumedUsage(Sum{spec, nullptr, false, AssumedDefaults(true, true)}.Total());
}

}  // namespace knx::k8s
