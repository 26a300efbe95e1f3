#include "k8s/pod_requests.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace knx::k8s {
namespace {

Quantity Q(std::string_view text) {
  auto parsed = Quantity::Parse(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Quantity();
}

// Written sorted by name.
ResourceList R(std::initializer_list<std::pair<const char*, const char*>> entries) {
  ResourceList out;
  for (const auto& [name, text] : entries) out.emplace_back(name, Q(text));
  return out;
}

Container C(ResourceList requests, std::string name = "c", bool sidecar = false) {
  Container out;
  out.name = std::move(name);
  out.resources.requests = std::move(requests);
  out.restart_always = sidecar;
  return out;
}

Container Sidecar(ResourceList requests) { return C(std::move(requests), "s", true); }

std::string Text(const ResourceList& list) {
  std::string out;
  for (const auto& [name, quantity] : list) out += name + "=" + quantity.ToString() + " ";
  return out;
}

ResourceRequirements PodLevel(ResourceList requests) { return {std::move(requests), {}}; }

// The parts of a pod that matter here.
struct Spec {
  std::vector<Container> containers = {}, init_containers = {};
  ResourceList overhead = {};
  std::optional<ResourceRequirements> resources = {};

  operator PodSpec() const {  // NOLINT(google-explicit-constructor)
    PodSpec out;
    out.containers = containers;
    out.init_containers = init_containers;
    out.overhead = overhead;
    out.resources = resources;
    return out;
  }
};

struct ReportedStatus {
  std::vector<Condition> conditions = {};
  std::vector<ContainerStatus> containers = {}, init_containers = {};
  std::optional<ResourceList> allocated = {}, actuated = {};
};

Pod MakePod(const PodSpec& spec, const ReportedStatus& status = {}) {
  Pod out;
  out.spec = spec;
  out.status.conditions = status.conditions;
  out.status.containers = status.containers;
  out.status.init_containers = status.init_containers;
  out.status.allocated = status.allocated;
  out.status.actuated = status.actuated;
  return out;
}

struct SpecCase {
  std::string_view name;
  Spec spec;
  ResourceList want;
  AssumedUsage assumed;
  AssumedUsage containers_only;
};

std::vector<SpecCase> SpecCases() {
  constexpr std::int64_t mi = 1024 * 1024;
  constexpr AssumedUsage none{100, 200 * mi};
  return {
      {"no containers ask for nothing", {}, {}, {0, 0}, {0, 0}},
      {"a container that says nothing", {.containers = {C({})}}, {}, none, none},
      {"an explicit zero stays zero",
       {.containers = {C(R({{"cpu", "0"}}))}},
       R({{"cpu", "0"}}),
       {0, 200 * mi},
       {0, 200 * mi}},
      {"containers add up, each with its own assumption",
       {.containers = {C(R({{"cpu", "250m"}})), C(R({{"memory", "64Mi"}}))}},
       R({{"cpu", "250m"}, {"memory", "64Mi"}}),
       {350, 264 * mi},
       {350, 264 * mi}},
      {"the largest init container counts where it is larger",
       {.containers = {C(R({{"cpu", "2"}, {"memory", "1Gi"}})),
                       C(R({{"cpu", "1"}, {"memory", "1Gi"}}))},
        .init_containers = {C(R({{"cpu", "2"}, {"memory", "1Gi"}})),
                            C(R({{"cpu", "2"}, {"memory", "3Gi"}}))}},
       R({{"cpu", "3"}, {"memory", "3Gi"}}),
       {3000, 3072 * mi},
       {3000, 3072 * mi}},
      {"a sidecar adds to the containers and to the init containers after it",
       {.containers = {C(R({{"cpu", "1"}}))},
        .init_containers = {C(R({{"cpu", "4"}})), Sidecar(R({{"cpu", "2"}})),
                            C(R({{"cpu", "3"}}))}},
       R({{"cpu", "5"}}),
       {5000, 400 * mi},
       {5000, 400 * mi}},
      {"sidecars alone count as what runs",
       {.containers = {C(R({{"cpu", "1"}}))},
        .init_containers = {Sidecar(R({{"cpu", "2"}})), Sidecar(R({{"cpu", "500m"}}))}},
       R({{"cpu", "3500m"}}),
       {3500, 600 * mi},
       {3500, 600 * mi}},
      {"overhead comes on top",
       {.containers = {C(R({{"cpu", "1"}}))}, .overhead = R({{"cpu", "10m"}, {"memory", "5Mi"}})},
       R({{"cpu", "1010m"}, {"memory", "5Mi"}}),
       {1010, 205 * mi},
       {1010, 205 * mi}},
      {"the pod as a whole replaces cpu, memory and huge pages, and nothing else",
       {.containers = {C(R({{"cpu", "4"},
                            {"ephemeral-storage", "1Gi"},
                            {"hugepages-2Mi", "4Mi"},
                            {"memory", "8Gi"}}))},
        .overhead = R({{"cpu", "10m"}}),
        .resources = PodLevel(R({{"cpu", "1"},
                                 {"ephemeral-storage", "5Gi"},
                                 {"hugepages-2Mi", "6Mi"},
                                 {"nvidia.com/gpu", "7"}}))},
       R({{"cpu", "1010m"},
          {"ephemeral-storage", "1Gi"},
          {"hugepages-2Mi", "6Mi"},
          {"memory", "8Gi"}}),
       {1010, 8192 * mi},
       {4010, 8192 * mi}},
      {"only what is mentioned nowhere is assumed beside pod-level requests",
       {.containers = {C({}), C({})}, .resources = PodLevel(R({{"cpu", "1"}}))},
       R({{"cpu", "1"}}),
       {1000, 400 * mi},
       {200, 400 * mi}},
      {"memory one container mentions is not assumed for the other beside pod-level requests",
       {.containers = {C(R({{"memory", "1Mi"}})), C({})}, .resources = PodLevel(R({{"cpu", "1"}}))},
       R({{"cpu", "1"}, {"memory", "1Mi"}}),
       {1000, 1 * mi},
       {200, 201 * mi}},
      {"pod-level requests for other resources change nothing",
       {.containers = {C({})}, .resources = PodLevel(R({{"nvidia.com/gpu", "1"}}))},
       {},
       none,
       none},
      {"pod-level limits alone change nothing",
       {.containers = {C({})}, .resources = ResourceRequirements{{}, R({{"cpu", "1"}})}},
       {},
       none,
       none},
  };
}

TEST(PodRequests, AddUpAsInKubeScheduler) {
  for (const SpecCase& c : SpecCases()) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Text(PodRequests(c.spec)), Text(c.want));
    EXPECT_EQ(AssumedPodUsage(c.spec), c.assumed);
    EXPECT_EQ(AssumedContainerUsage(c.spec), c.containers_only);
    // Without a status a pod takes what it asks for.
    const Pod pod = MakePod(c.spec);
    EXPECT_FALSE(HasResizeStatus(pod));
    EXPECT_EQ(Text(PodRequestsInPlace(pod)), Text(c.want));
    EXPECT_EQ(AssumedPodUsageInPlace(pod), c.assumed);
  }
}

struct ResizeCase {
  std::string_view name;
  Spec spec;
  ReportedStatus status;
  ResourceList want;
  bool differs = true;
};

Condition Pending(std::string reason) {
  Condition out;
  out.type = "PodResizePending";
  out.status = "True";
  out.reason = std::move(reason);
  return out;
}

ContainerStatus Has(std::string name, std::optional<ResourceList> allocated,
                    std::optional<ResourceList> actuated) {
  return {
      .name = std::move(name), .allocated = std::move(allocated), .actuated = std::move(actuated)};
}

std::vector<ResizeCase> ResizeCases() {
  const Spec one{.containers = {C(R({{"cpu", "2"}}))}};
  const Spec whole{.containers = {C(R({{"cpu", "1"}}))}, .resources = PodLevel(R({{"cpu", "2"}}))};
  return {
      {"a status that repeats the spec",
       one,
       {.containers = {Has("c", R({{"cpu", "2"}}), R({{"cpu", "2"}}))}},
       R({{"cpu", "2"}}),
       false},
      {"growing: what the spec asks for counts already",
       one,
       {.containers = {Has("c", R({{"cpu", "1"}}), R({{"cpu", "1"}}))}},
       R({{"cpu", "2"}}),
       false},
      {"shrinking: what it has counts still",
       one,
       {.containers = {Has("c", R({{"cpu", "2"}}), R({{"cpu", "3"}}))}},
       R({{"cpu", "3"}})},
      {"what is promised counts as well",
       one,
       {.containers = {Has("c", R({{"cpu", "4"}}), R({{"cpu", "3"}}))}},
       R({{"cpu", "4"}})},
      {"a promise without a report of what is in force is not looked at",
       one,
       {.containers = {Has("c", R({{"cpu", "4"}}), std::nullopt)}},
       R({{"cpu", "2"}}),
       false},
      {"a report without requests leaves the promise",
       one,
       {.containers = {Has("c", R({{"cpu", "4"}}), ResourceList{})}},
       R({{"cpu", "4"}})},
      {"a refused resize counts for nothing",
       one,
       {.conditions = {Pending("Infeasible")},
        .containers = {Has("c", R({{"cpu", "1"}}), R({{"cpu", "500m"}}))}},
       R({{"cpu", "1"}})},
      {"a deferred resize is not refused",
       one,
       {.conditions = {Pending("Deferred")},
        .containers = {Has("c", R({{"cpu", "1"}}), R({{"cpu", "500m"}}))}},
       R({{"cpu", "2"}}),
       false},
      {"only the first condition of its kind is read",
       one,
       {.conditions = {Pending("Deferred"), Pending("Infeasible")},
        .containers = {Has("c", R({{"cpu", "1"}}), R({{"cpu", "500m"}}))}},
       R({{"cpu", "2"}}),
       false},
      {"sidecars are resized, ordinary init containers are not",
       {.containers = {C(R({{"cpu", "1"}}))},
        .init_containers = {C(R({{"cpu", "1"}}), "i"), Sidecar(R({{"cpu", "1"}}))}},
       {.init_containers = {Has("i", {}, R({{"cpu", "9"}})), Has("s", {}, R({{"cpu", "2"}}))}},
       R({{"cpu", "3"}})},
      {"a resource that only the status knows counts",
       one,
       {.containers = {Has("c", {}, R({{"cpu", "2"}, {"memory", "1Gi"}}))}},
       R({{"cpu", "2"}, {"memory", "1Gi"}})},
      {"the status of another container changes nothing",
       one,
       {.containers = {Has("other", {}, R({{"cpu", "9"}}))}},
       R({{"cpu", "2"}}),
       false},
      {"the pod as a whole shrinks like a container",
       whole,
       {.allocated = R({{"cpu", "3"}}), .actuated = R({{"cpu", "4"}})},
       R({{"cpu", "4"}})},
      {"the pod as a whole, refused",
       whole,
       {.conditions = {Pending("Infeasible")},
        .allocated = R({{"cpu", "500m"}}),
        .actuated = R({{"cpu", "250m"}})},
       R({{"cpu", "500m"}})},
      {"the pod as a whole, refused and not mentioned by the status",
       whole,
       {.conditions = {Pending("Infeasible")}, .actuated = R({{"memory", "1Gi"}})},
       R({{"cpu", "0"}})},
  };
}

TEST(PodRequests, FollowAResizeThatIsUnderWay) {
  for (const ResizeCase& c : ResizeCases()) {
    SCOPED_TRACE(c.name);
    const Pod pod = MakePod(c.spec, c.status);
    EXPECT_EQ(Text(PodRequestsInPlace(pod)), Text(c.want));
    EXPECT_EQ(HasResizeStatus(pod), c.differs);
    if (!c.differs) {
      EXPECT_EQ(Text(PodRequestsInPlace(pod)), Text(PodRequests(pod.spec)));
    }
  }
}

TEST(PodRequests, AssumeWhatAResizedContainerDoesNotMention) {
  constexpr std::int64_t mi = 1024 * 1024;
  Pod pod = MakePod(Spec{.containers = {C(R({{"cpu", "2"}}))}});
  pod.status.containers = {Has("c", {}, R({{"cpu", "3"}, {"memory", "1Mi"}}))};
  EXPECT_EQ(AssumedPodUsageInPlace(pod), (AssumedUsage{3000, 1 * mi}));
  EXPECT_EQ(AssumedPodUsage(pod.spec), (AssumedUsage{2000, 200 * mi}));
}

TEST(PodRequests, EndAtTheLargestNumberInsteadOfBeyondIt) {
  const ResourceList huge = R({{"cpu", "9223372036854775807"}, {"memory", "9223372036854775807"}});
  PodSpec spec = Spec{.overhead = huge};
  for (int i = 0; i < 40; ++i) spec.containers.push_back(C(huge));
  const ResourceList total = PodRequests(spec);
  ASSERT_EQ(total.size(), 2U);
  EXPECT_EQ(total[0].second.MilliValue(), INT64_MAX);
  EXPECT_EQ(total[1].second.Value(), INT64_MAX);
  EXPECT_EQ(AssumedPodUsage(spec), (AssumedUsage{INT64_MAX, INT64_MAX}));
}

// Behaviour of component-helpers' PodLimits.
TEST(PodLimits, AddsUpAsRequestsDoAndCountsOverheadWhereThereIsALimit) {
  const auto limited = [](ResourceList limits, bool sidecar = false) {
    Container out = C({}, "c", sidecar);
    out.resources.limits = std::move(limits);
    return out;
  };
  struct Case {
    std::string_view name;
    PodSpec spec;
    ResourceList want;
  };
  const Case cases[] = {
      {"no limits", Spec{.containers = {C(R({{"cpu", "1"}}))}, .overhead = R({{"cpu", "1"}})}, {}},
      {"two containers",
       Spec{
           .containers = {limited(R({{"cpu", "1"}})), limited(R({{"cpu", "2"}, {"memory", "1"}}))}},
       R({{"cpu", "3"}, {"memory", "1"}})},
      {"an init container beside a sidecar",
       Spec{.containers = {limited(R({{"cpu", "1"}}))},
            .init_containers = {limited(R({{"cpu", "1"}}), true), limited(R({{"cpu", "4"}}))}},
       R({{"cpu", "5"}})},
      {"overhead only where there is a limit",
       Spec{.containers = {limited(R({{"cpu", "1"}, {"x.io/y", "0"}}))},
            .overhead = R({{"cpu", "500m"}, {"memory", "1"}, {"x.io/y", "1"}})},
       R({{"cpu", "1500m"}, {"x.io/y", "0"}})},
      {"of the pod as a whole only what can be said of it",
       Spec{.containers = {limited(R({{"cpu", "1"}}))},
            .resources = ResourceRequirements{{}, R({{"cpu", "3"}, {"x.io/y", "9"}})}},
       R({{"cpu", "3"}})},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Text(PodLimits(c.spec)), Text(c.want));
  }
}

TEST(HaveSameLimits, LooksAtEveryPlaceWhereLimitsStand) {
  PodSpec plain;
  plain.containers = {C({})};
  plain.init_containers = {C({})};
  PodSpec container = plain, init = plain, whole = plain, empty = plain;
  container.containers[0].resources.limits = R({{"cpu", "1"}});
  init.init_containers[0].resources.limits = R({{"cpu", "1"}});
  whole.resources = ResourceRequirements{{}, R({{"cpu", "1"}})};
  empty.resources = ResourceRequirements{};
  EXPECT_TRUE(HaveSameLimits(plain, plain));
  EXPECT_TRUE(HaveSameLimits(plain, empty));
  for (const PodSpec* other : {&container, &init, &whole}) {
    EXPECT_FALSE(HaveSameLimits(plain, *other));
    EXPECT_TRUE(HaveSameLimits(*other, *other));
  }
}

}  // namespace
}  // namespace knx::k8s
