#include "plugins/kube/node_declared_features/node_declared_features.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "k8s/names.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::EventKind;

const std::string kRestarts(k8s::names::kFeatureRestartAll);
const std::string kUsers(k8s::names::kFeatureHostNetworkUsers);

struct Needs {
  bool host_network = false, own_users = false, restarts_all = false, in_init_container = false;
};

k8s::Pod PodThat(const Needs& needs, std::string name = "p") {
  k8s::Pod pod = PodBuilder(std::move(name));
  pod.spec.host_network = needs.host_network;
  pod.spec.host_users = !needs.own_users;
  pod.spec.containers[0].may_restart_all = needs.restarts_all;
  if (needs.in_init_container) pod.spec.init_containers.emplace_back().may_restart_all = true;
  return pod;
}

TEST(NodeDeclaredFeatures, RejectsNodesThatLackAFeature) {
  const testing::Answer no = testing::Never({"node(s) didn't match Pod's required features"});
  const testing::Answer yes = testing::Fits();
  struct Case {
    std::string_view name;
    Needs needs;
    std::vector<std::string> declared;
    testing::Answer want;
  };
  const Case cases[] = {
      {"needs nothing", {}, {}, yes},
      {"host network alone", {.host_network = true}, {}, yes},
      {"users alone", {.own_users = true}, {}, yes},
      {"both", {.host_network = true, .own_users = true}, {}, no},
      {"both, declared", {.host_network = true, .own_users = true}, {kUsers}, yes},
      {"both, something else", {.host_network = true, .own_users = true}, {kRestarts}, no},
      {"restarts all", {.restarts_all = true}, {kUsers}, no},
      {"restarts all, declared", {.restarts_all = true}, {kRestarts}, yes},
      {"an init container does", {.in_init_container = true}, {}, no},
      {"an init container does, declared", {.in_init_container = true}, {kRestarts}, yes},
      {"two needed, one declared",
       {.host_network = true, .own_users = true, .restarts_all = true},
       {kUsers},
       no},
      {"two needed, more declared",
       {.host_network = true, .own_users = true, .restarts_all = true},
       {"Z", kUsers, "A", kRestarts, kRestarts},
       yes},
  };
  const NodeDeclaredFeatures plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    NodeBuilder node("n");
    for (const std::string& feature : c.declared) node.Declares(feature);
    const cluster::NodeRow row = AddNode(state, node);
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, PodThat(c.needs))));
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    EXPECT_EQ(testing::Judge(prepared, row), c.want);
  }
}

TEST(NodeDeclaredFeatures, IsPreparedAnewForAFeatureNobodyHadHeardOf) {
  cluster::State state;
  const NodeDeclaredFeatures plugin;
  AddNode(state, NodeBuilder("old"));
  const cluster::PodId pod = AddPod(state, PodThat({.restarts_all = true}));
  const auto prepared = plugin.PreFilter(testing::View(state, pod));
  EXPECT_TRUE(prepared.filter->Current());
  const cluster::NodeRow row = AddNode(state, NodeBuilder("new").Declares(kRestarts));
  EXPECT_FALSE(prepared.filter->Current());
  EXPECT_EQ(testing::Judge(plugin.PreFilter(testing::View(state, pod)), row), testing::Fits());
}

TEST(NodeDeclaredFeatures, PodsThatNeedDifferentFeaturesAreOfDifferentClasses) {
  cluster::State state;
  const auto class_of = [&](const Needs& needs, std::string name) {
    return state.pod(AddPod(state, PodThat(needs, std::move(name)))).pod_class;
  };
  const auto plain = class_of({}, "plain");
  EXPECT_NE(class_of({.restarts_all = true}, "restarts"), plain);
  EXPECT_NE(class_of({.host_network = true, .own_users = true}, "users"), plain);
  EXPECT_EQ(class_of({.host_network = true}, "network"), plain);
}

TEST(NodeDeclaredFeatures, WakesUpForNodesAndForOtherNeeds) {
  cluster::State state;
  const NodeDeclaredFeatures plugin;
  const cluster::PodId pod = AddPod(state, PodThat({.restarts_all = true}));
  const cluster::PodId modest = AddPod(state, PodThat({}, "modest"));
  framework::ClusterEvent event;
  for (const EventKind kind :
       {EventKind::kNodeAdd, EventKind::kNodeTaint, EventKind::kNodeDeclaredFeature}) {
    event.kind = kind;
    EXPECT_TRUE(plugin.events().Contains(kind));
    EXPECT_TRUE(plugin.MayHelp(event, testing::View(state, pod)));
  }
  EXPECT_FALSE(plugin.events().Contains(EventKind::kNodeLabel));
  event.kind = EventKind::kOwnOther;
  EXPECT_TRUE(plugin.events().Contains(event.kind));
  event.pod_before.pod_class = &state.class_of(pod);
  event.pod_now.pod_class = &state.class_of(pod);
  EXPECT_FALSE(plugin.MayHelp(event, testing::View(state, pod)));
  event.pod_now.pod_class = &state.class_of(modest);
  EXPECT_TRUE(plugin.MayHelp(event, testing::View(state, pod)));
}

}  // namespace
}  // namespace knx::plugins
