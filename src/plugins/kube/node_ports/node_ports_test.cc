#include "plugins/kube/node_ports/node_ports.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::EventKind;

const testing::Answer kTaken =
    testing::NotNow({"node(s) didn't have free ports for the requested pod ports"});

TEST(NodePorts, RejectsNodesWhereAPortIsTaken) {
  struct Case {
    std::string_view name;
    PodBuilder wanted, present;
    bool fits;
  };
  const Case cases[] = {
      {"nothing there", PodBuilder("p").Port(80), PodBuilder("q"), true},
      {"another port", PodBuilder("p").Port(80), PodBuilder("q").Port(81), true},
      {"the same port", PodBuilder("p").Port(80), PodBuilder("q").Port(80), false},
      {"another protocol", PodBuilder("p").Port(80), PodBuilder("q").Port(80, "UDP"), true},
      {"other addresses", PodBuilder("p").Port(80, "TCP", "10.0.0.1"),
       PodBuilder("q").Port(80, "TCP", "10.0.0.2"), true},
      {"the same address", PodBuilder("p").Port(80, "TCP", "10.0.0.1"),
       PodBuilder("q").Port(80, "TCP", "10.0.0.1"), false},
      {"every address is wanted", PodBuilder("p").Port(80, "TCP", "0.0.0.0"),
       PodBuilder("q").Port(80, "TCP", "10.0.0.2"), false},
      {"every address is taken", PodBuilder("p").Port(80, "TCP", "10.0.0.1"),
       PodBuilder("q").Port(80), false},
      {"one of two", PodBuilder("p").Port(80).Port(81), PodBuilder("q").Port(81), false},
      {"a sidecar's port", PodBuilder("p").Sidecar().Port(80), PodBuilder("q").Port(80), false},
      {"an init container's port holds nothing", PodBuilder("p").Port(80),
       PodBuilder("q").InitContainer().Port(80), true},
  };
  const NodePorts plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    const cluster::NodeRow row = AddNode(state, NodeBuilder("n"));
    PodBuilder present = c.present;
    AddPod(state, present.On("n"));
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, c.wanted)));
    EXPECT_EQ(prepared.outcome.code, framework::Code::kSuccess);
    EXPECT_EQ(prepared.scope, framework::Scope::kUsage);
    EXPECT_EQ(testing::Judge(prepared, row), c.fits ? testing::Fits() : kTaken);
  }
}

TEST(NodePorts, HasNothingToSayAboutPodsWithoutHostPorts) {
  cluster::State state;
  const NodePorts plugin;
  const auto ask = [&](const k8s::Pod& pod) {
    return plugin.PreFilter(testing::View(state, AddPod(state, pod))).outcome.code;
  };
  EXPECT_EQ(ask(PodBuilder("none")), framework::Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("container port only").Port(0)), framework::Code::kSkip);
}

TEST(NodePorts, SeesPodsComeAndGo) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, NodeBuilder("n"));
  const NodePorts plugin;
  const cluster::PodId pod = AddPod(state, PodBuilder("p").Port(80));
  const auto prepared = plugin.PreFilter(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(prepared, row), testing::Fits());
  const cluster::PodId first = AddPod(state, PodBuilder("q").Port(80).On("n"));
  const cluster::PodId second = AddPod(state, PodBuilder("r").Port(80).On("n"));
  EXPECT_EQ(testing::Judge(prepared, row), kTaken);
  state.RemovePod(first);
  EXPECT_EQ(testing::Judge(prepared, row), kTaken);
  state.RemovePod(second);
  EXPECT_EQ(testing::Judge(prepared, row), testing::Fits());
  EXPECT_TRUE(prepared.filter->Current());
}

TEST(NodePorts, IsHelpedByPodsThatFreeThePort) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, NodeBuilder("n"));
  const NodePorts plugin;
  const cluster::PodId waiting = AddPod(state, PodBuilder("waiting").Port(80));
  const cluster::PodId same = AddPod(state, PodBuilder("same").Port(80));
  const cluster::PodId other = AddPod(state, PodBuilder("other").Port(81));
  const auto helps = [&](EventKind kind, cluster::PodId gone, cluster::NodeRow node,
                         cluster::NodeRow nominated) {
    framework::ClusterEvent event;
    event.kind = kind;
    event.pod_now.pod_class = &state.class_of(gone);
    event.pod_now.node = node;
    event.pod_now.nominated = nominated;
    EXPECT_TRUE(plugin.events().Contains(kind));
    return plugin.MayHelp(event, testing::View(state, waiting));
  };
  const cluster::NodeRow none;
  EXPECT_TRUE(helps(EventKind::kAssignedPodDelete, same, row, none));
  EXPECT_FALSE(helps(EventKind::kAssignedPodDelete, other, row, none));
  EXPECT_TRUE(helps(EventKind::kUnassignedPodDelete, same, none, row));
  EXPECT_FALSE(helps(EventKind::kUnassignedPodDelete, same, none, none));
  framework::ClusterEvent node_event;
  for (const EventKind kind : {EventKind::kNodeAdd, EventKind::kNodeTaint}) {
    node_event.kind = kind;
    EXPECT_TRUE(plugin.events().Contains(kind));
    EXPECT_TRUE(plugin.MayHelp(node_event, testing::View(state, waiting)));
  }
}

}  // namespace
}  // namespace knx::plugins
