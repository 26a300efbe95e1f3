// Random objects, right and wrong, read in both ways.
#include <gtest/gtest.h>
// After gtest, which it extends.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "k8s/read_json.h"

namespace knx::k8s {
namespace {

// Builds JSON from a list of choices, so that rapidcheck shrinks a failure by shrinking the list.
class Author {
 public:
  Author(std::vector<std::uint8_t> choices, bool makes_mistakes)
      : choices_(std::move(choices)), makes_mistakes_(makes_mistakes) {}

  std::string Pod() {
    return Map(
        {{"apiVersion", "\"v1\""}, {"kind", "\"Pod\""}, {"metadata", Meta()}, {"spec", PodSpec()}},
        {{"status", PodStatus()}});
  }

  std::string Node() {
    const std::string taint =
        Map({{"key", "\"k\""}, {"effect", OneOf({"\"NoSchedule\"", "\"NoExecute\""})}},
            {{"value", Text()}});
    const std::string image = Map({}, {{"names", List(Text())}, {"sizeBytes", Integer()}});
    return Map({{"apiVersion", "\"v1\""}, {"kind", "\"Node\""}, {"metadata", Meta()}},
               {{"spec", Map({}, {{"unschedulable", Bool()}, {"taints", List(taint)}})},
                {"status", Map({}, {{"capacity", Resources()},
                                    {"allocatable", Resources()},
                                    {"images", List(image)},
                                    {"conditions", List(Condition())}})}});
  }

  std::string Other() {
    const auto [api_version, kind] = kKinds[Choose(kKinds.size())];
    // A selector must match the template beside it.
    const std::string labels = Labels();
    const std::string no_label = Map({{"key", "\"k\""}, {"operator", "\"DoesNotExist\""}}, {});
    const std::string selector =
        api_version == "v1"
            ? labels
            : Map({}, {{"matchLabels", labels}, {"matchExpressions", List(no_label)}});
    const std::string pod_template =
        Map({{"spec", PodSpec()}, {"metadata", Map({{"labels", labels}}, {})}}, {});
    const std::string spec = Map({{"template", pod_template}},
                                 {{"replicas", Integer()},
                                  {"selector", selector},
                                  {"parallelism", Integer()},
                                  {"completions", Integer()},
                                  {"completionMode", OneOf({"\"Indexed\"", "\"NonIndexed\""})},
                                  {"minAvailable", OneOf({"1", "\"50%\"", "null"})}});
    return Map({{"apiVersion", Quote(api_version)},
                {"kind", Quote(kind)},
                {"metadata", Meta()},
                {"spec", spec}},
               {{"value", Integer()}, {"preemptionPolicy", "\"Never\""}});
  }

 private:
  using Members = std::vector<std::pair<std::string, std::string>>;
  inline static const std::vector<std::pair<std::string, std::string>> kKinds = {
      {"v1", "Namespace"},
      {"v1", "Service"},
      {"v1", "ReplicationController"},
      {"apps/v1", "ReplicaSet"},
      {"apps/v1", "Deployment"},
      {"policy/v1", "PodDisruptionBudget"},
      {"batch/v1", "Job"},
      {"scheduling.k8s.io/v1", "PriorityClass"}};

  std::size_t Choose(std::size_t n) {
    if (next_ >= choices_.size()) return 0;
    return choices_[next_++] % n;
  }
  std::string OneOf(std::initializer_list<std::string> values) {
    return values.begin()[Choose(values.size())];
  }
  static std::string Quote(const std::string& text) { return "\"" + text + "\""; }

  // A map with those members and some of the optional ones, in any order; now and then with a
  // mistake.
  std::string Map(Members required, Members optional) {
    Members members = std::move(required);
    for (auto& member : optional) {
      if (Choose(3) != 0) members.push_back(std::move(member));
    }
    for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[Choose(i)]);
    std::string out = "{";
    for (auto& [key, value] : members) {
      if (makes_mistakes_ && Choose(30) == 1) {
        value = OneOf({"null", "[]", "{}", "\"\"", "-1", "1e2", "true", "[null]", "\"Bad Value\"",
                       "\"x%\"", "99999999999999999999", "{\"a\":null}", "0.5"});
      }
      out += (out.size() > 1 ? "," : "") + Quote(key) + ":" + value;
    }
    return out + "}";
  }
  std::string List(const std::string& item) {
    return OneOf({"[" + item + "]", "[" + item + "," + item + "]", "[]", "null"});
  }

  std::string Text() { return OneOf({"\"\"", "\"a\"", "\"b\\n\\u00e9\"", "\"\\ud83d\\ude00\""}); }
  std::string Bool() { return OneOf({"true", "false"}); }
  std::string Integer() { return OneOf({"0", "1", "7", "2147483647"}); }
  std::string Moment() {
    return OneOf({"\"2026-01-31T12:00:00Z\"", "\"1999-12-31T23:59:59.5+01:00\"", "null"});
  }
  std::string Amount() {
    return OneOf({"\"1\"", "\"100m\"", "2", "\"3Gi\"", "\"1u\"", "null", "\"0\""});
  }
  std::string Labels() {
    return Map({},
               {{"app", OneOf({"\"a\"", "\"\"", "null"})}, {"x.com/y", "\"z\""}, {"b_c", "\"1\""}});
  }
  std::string Resources() {
    return Map({}, {{"cpu", Amount()},
                    {"memory", Amount()},
                    {"nvidia.com/gpu", Amount()},
                    {"hugepages-2Mi", Amount()}});
  }
  std::string Requirements() {
    // No request may be beyond its limit.
    const std::string requests = Resources();
    const std::string limits = OneOf({requests, R"({"cpu":"9Gi","memory":"9Gi"})"});
    return Map({}, {{"requests", requests}, {"limits", limits}});
  }
  std::string Requirement() {
    return Map({{"key", "\"k\""}, {"operator", OneOf({"\"In\"", "\"Exists\"", "\"NotIn\""})}},
               {{"values", List(Text())}});
  }
  std::string Condition() {
    return Map({{"type", Text()}, {"status", "\"True\""}},
               {{"reason", Text()}, {"message", Text()}, {"lastTransitionTime", Moment()}});
  }
  std::string Meta() {
    const std::string owner =
        Map({{"kind", Text()}, {"name", Text()}},
            {{"uid", Text()}, {"controller", Bool()}, {"apiVersion", Text()}});
    return Map({{"name", OneOf({"\"a\"", "\"a-0.b\""})}},
               {{"generateName", "\"g-\""},
                {"namespace", "\"n-s\""},
                {"uid", Text()},
                {"resourceVersion", Text()},
                {"generation", Integer()},
                {"labels", Labels()},
                {"annotations", Labels()},
                {"creationTimestamp", Moment()},
                {"deletionTimestamp", Moment()},
                {"ownerReferences", List(owner)},
                {"managedFields", "[{\"any\":[1,2.5,null]}]"}});
  }
  std::string Container() {
    const std::string port =
        Map({{"containerPort", OneOf({"1", "65535"})}},
            {{"hostPort", OneOf({"0", "80"})}, {"hostIP", Text()}, {"protocol", "\"UDP\""}});
    return Map({{"name", Text()}}, {{"image", Text()},
                                    {"resources", Requirements()},
                                    {"ports", List(port)},
                                    {"restartPolicy", OneOf({"\"Always\"", "\"Never\""})}});
  }
  std::string Selector() {
    return Map({}, {{"matchLabels", Labels()}, {"matchExpressions", List(Requirement())}});
  }
  std::string PodAffinity() {
    const std::string term = Map({{"topologyKey", Text()}}, {{"labelSelector", Selector()},
                                                             {"namespaces", List(Text())},
                                                             {"namespaceSelector", Selector()},
                                                             {"matchLabelKeys", List(Text())},
                                                             {"mismatchLabelKeys", List(Text())}});
    return Map({}, {{"requiredDuringSchedulingIgnoredDuringExecution", List(term)},
                    {"preferredDuringSchedulingIgnoredDuringExecution",
                     List(Map({{"weight", OneOf({"1", "100"})}, {"podAffinityTerm", term}}, {}))}});
  }
  std::string SpreadConstraint() {
    const std::string policy = OneOf({"\"Honor\"", "\"Ignore\"", "null"});
    return Map({{"maxSkew", OneOf({"1", "2147483647"})},
                {"topologyKey", Text()},
                {"whenUnsatisfiable", OneOf({"\"DoNotSchedule\"", "\"ScheduleAnyway\""})}},
               {{"labelSelector", Selector()},
                {"minDomains", OneOf({"1", "5", "null"})},
                {"nodeAffinityPolicy", policy},
                {"nodeTaintsPolicy", policy},
                {"matchLabelKeys", List(Text())}});
  }
  std::string PodSpec() {
    const std::string term =
        Map({}, {{"matchExpressions", List(Requirement())}, {"matchFields", List(Requirement())}});
    const std::string affinity =
        Map({}, {{"requiredDuringSchedulingIgnoredDuringExecution",
                  Map({}, {{"nodeSelectorTerms", List(term)}})},
                 {"preferredDuringSchedulingIgnoredDuringExecution",
                  List(Map({{"weight", OneOf({"1", "100"})}, {"preference", term}}, {}))}});
    const std::string toleration = Map({}, {{"key", Text()},
                                            {"operator", OneOf({"\"\"", "\"Exists\"", "\"Lt\""})},
                                            {"value", Text()},
                                            {"effect", OneOf({"\"\"", "\"NoExecute\""})},
                                            {"tolerationSeconds", Integer()}});
    return Map({{"containers", "[" + Container() + "," + Container() + "]"}},
               {{"initContainers", List(Container())},
                {"nodeName", Text()},
                {"schedulerName", Text()},
                {"priorityClassName", Text()},
                {"priority", Integer()},
                {"preemptionPolicy", OneOf({"\"Never\"", "\"PreemptLowerPriority\""})},
                {"schedulingGates", List("{\"name\":\"g\"}")},
                {"nodeSelector", Labels()},
                {"affinity", Map({}, {{"nodeAffinity", affinity},
                                      {"podAffinity", PodAffinity()},
                                      {"podAntiAffinity", PodAffinity()}})},
                {"topologySpreadConstraints", List(SpreadConstraint())},
                {"tolerations", List(toleration)},
                {"volumes", List(Map({}, {{"image", Map({}, {{"reference", Text()}})}}))},
                {"overhead", Resources()},
                {"resources", Requirements()},
                {"hostNetwork", Bool()},
                {"activeDeadlineSeconds", OneOf({"1", "60"})},
                {"terminationGracePeriodSeconds", Integer()}});
  }
  std::string PodStatus() {
    const std::string container = Map(
        {{"name", Text()}}, {{"allocatedResources", Resources()}, {"resources", Requirements()}});
    return Map({}, {{"phase", OneOf({"\"\"", "\"Running\"", "\"Failed\""})},
                    {"conditions", List(Condition())},
                    {"nominatedNodeName", Text()},
                    {"startTime", Moment()},
                    {"containerStatuses", List(container)},
                    {"initContainerStatuses", List(container)},
                    {"allocatedResources", Resources()},
                    {"resources", Requirements()}});
  }

  std::vector<std::uint8_t> choices_;
  std::size_t next_ = 0;
  bool makes_mistakes_;
};

std::string RandomObject(bool makes_mistakes) {
  // Enough for a whole pod; fewer choices mean smaller objects.
  const auto choices = *rc::gen::scale(
      8.0, rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>()));
  Author author(choices, makes_mistakes);
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return author.Pod();
    case 1:
      return author.Node();
    default:
      return author.Other();
  }
}

// Refused for a word that a server may know, which the fast way bears (see json_fields.h).
bool IsUnknownWord(const Result<Object>& explained) {
  if (explained.ok()) return false;
  const std::string why = explained.error().ToString();
  const auto says = [&why](std::string_view text) { return why.find(text) != why.npos; };
  return says("is not allowed; allowed are") && (says("operator: ") || says("effect: "));
}

RC_GTEST_PROP(ReadJsonObject, ReadsRightObjectsAlikeInBothWays, ()) {
  const std::string json = RandomObject(false);
  RC_LOG(json);
  const std::optional<Object> fast = ReadJsonFast(json);
  const Result<Object> explained = ReadJsonExplained(json);
  if (!explained.ok()) RC_LOG(explained.error().ToString());
  RC_ASSERT(explained.ok());
  RC_ASSERT(fast.has_value());
  RC_ASSERT(*fast == *explained);
}

RC_GTEST_PROP(ReadJsonObject, RefusesWrongObjectsAlikeInBothWays, ()) {
  const std::string json = RandomObject(true);
  RC_LOG(json);
  const std::optional<Object> fast = ReadJsonFast(json);
  const Result<Object> explained = ReadJsonExplained(json);
  if (IsUnknownWord(explained)) return;
  // Numbers that need more than 64 bits, and amounts written as fractions, are left to the slow
  // way.
  const bool beyond = json.find("99999999999999999999") != std::string::npos ||
                      json.find("0.5") != std::string::npos ||
                      json.find("1e2") != std::string::npos;
  if (!beyond) RC_ASSERT(fast.has_value() == explained.ok());
  if (fast && explained.ok()) RC_ASSERT(*fast == *explained);
  if (fast) RC_ASSERT(explained.ok());
}

}  // namespace
}  // namespace knx::k8s
