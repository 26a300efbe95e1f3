#include "cluster/pod_query.h"

#include <gtest/gtest.h>

namespace knx::cluster {
namespace {

using Op = k8s::SelectorOperator;

TEST(PodQuery, WhatIsMalformedMatchesNothing) {
  const k8s::LabelSelector good{{}, {{"app", Op::kNotIn, {"db"}}}};
  const k8s::LabelSelector bad{{}, {{"app", Op::kNotIn, {}}}};
  const k8s::StringMap labels = {{"app", "web"}};
  struct Case {
    std::string_view name;
    PodCondition condition;
    bool want;
  };
  const Case cases[] = {
      {"both are sound", {{"a"}, good, good}, true},
      {"labels", {{"a"}, std::nullopt, bad}, false},
      {"namespaces, and it is not listed", {{"b"}, bad, good}, false},
      {"namespaces, and it is listed", {{"a"}, bad, good}, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PodQuery query{{c.condition}};
    query.DropMalformed();
    EXPECT_EQ(query.Matches("a", labels, labels), c.want);
  }
}

}  // namespace
}  // namespace knx::cluster
