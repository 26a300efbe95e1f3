#include "scenario/pod_selection.h"

#include <gtest/gtest.h>

namespace knx::scenario {
namespace {

TEST(PodSelection, MatchesNamesLabelsAndOwners) {
  struct Case {
    const char *text, *pattern;
    bool want;
  };
  const Case cases[] = {
      {"web-1", "web-1", true}, {"web-1", "web-*", true},
      {"web-1", "*", true},     {"web-1", "w*1", true},
      {"web-1", "w*2", false},  {"web-1", "web", false},
      {"", "*", true},          {"aab", "*ab", true},
      {"ab", "a*b*c", false},   {"node-12", "node-?", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MatchesPattern(c.text, c.pattern), c.want) << c.text << " " << c.pattern;
  }
  k8s::Pod pod;
  pod.meta.namespace_ = "default";
  pod.meta.name = "p";
  pod.meta.labels = {{"a", "1"}, {"b", "2"}};
  pod.meta.owners = {{.kind = "Job", .name = "j", .uid = "u", .controller = true}};
  EXPECT_TRUE((PodSelection{"", "", {{"a", "1"}}, ""}).Matches(pod));
  EXPECT_FALSE((PodSelection{"", "", {{"a", "2"}}, ""}).Matches(pod));
  EXPECT_TRUE((PodSelection{"default", "p", {}, "j"}).Matches(pod));
  EXPECT_FALSE((PodSelection{"other", "", {}, ""}).Matches(pod));
  pod.meta.owners[0].kind = "ReplicaSet";
  pod.meta.owners[0].name = "web-1";
  EXPECT_TRUE((PodSelection{"", "", {}, "web-1"}).Matches(pod));
  EXPECT_FALSE((PodSelection{"", "", {}, "web"}).Matches(pod)) << "no Deployment made it";
  pod.meta.labels.emplace_back("pod-template-hash", "1");
  EXPECT_TRUE((PodSelection{"", "", {}, "web"}).Matches(pod));
  EXPECT_EQ((PodSelection{"", "p*", {{"a", "1"}}, ""}).ToString(), "pods p* with a=1");
  EXPECT_EQ(PodSelection{}.ToString(), "all pods");
}

}  // namespace
}  // namespace knx::scenario
