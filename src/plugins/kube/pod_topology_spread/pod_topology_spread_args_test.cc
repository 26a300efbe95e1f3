#include <gtest/gtest.h>

#include "plugins/kube/pod_topology_spread/pod_topology_spread.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

TEST(PodTopologySpreadArgs, AreReadAndRefused) {
  struct Case {
    std::string_view yaml, want;
  };
  const Case cases[] = {
      {"defaultingType: System", ""},
      {"defaultingType: ''", ""},
      {"defaultingType: Sometimes",
       "config.yaml:1:17: args.defaultingType: \"Sometimes\" is not allowed; allowed are System, "
       "List"},
      {"defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]",
       "config.yaml:1:1: args.defaultingType: must be List where there are defaultConstraints: "
       "with "
       "System they are those of Kubernetes"},
      {"{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: a, "
       "whenUnsatisfiable: DoNotSchedule}]}",
       "config.yaml:1:55: args.defaultConstraints[0].maxSkew: 0 is out of range, allowed is 1 to "
       "2147483647"},
      {"{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, "
       "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}",
       "config.yaml:1:123: args.defaultConstraints[0].labelSelector: must be left out: which pods "
       "are meant follows from each pod"},
      {"{defaultingType: List, defaultConstraints: [&c {maxSkew: 1, topologyKey: a, "
       "whenUnsatisfiable: DoNotSchedule}, *c]}",
       "config.yaml:1:112: args.defaultConstraints[1]: there is one for a with the same "
       "whenUnsatisfiable already"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto made = testing::MakeFromYaml(&PodTopologySpread::Make, c.yaml);
    EXPECT_EQ(made.ok() ? "" : made.error().ToString(), c.want);
  }
  const auto bad_key = testing::MakeFromYaml(
      &PodTopologySpread::Make,
      "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: 'a b', "
      "whenUnsatisfiable: DoNotSchedule}]}");
  ASSERT_FALSE(bad_key.ok());
  EXPECT_TRUE(bad_key.error().message.starts_with(
      "args.defaultConstraints[0].topologyKey: \"a b\" is no label key"));
}

}  // namespace
}  // namespace knx::plugins
