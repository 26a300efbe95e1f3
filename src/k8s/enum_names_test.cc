#include "k8s/enum_names.h"

#include <gtest/gtest.h>

#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

template <class T>
T ReadFirst(const std::string& text) {
  auto objects = ReadManifests(text, "f.yaml");
  EXPECT_TRUE(objects.ok()) << objects.error().ToString();
  return objects.ok() ? std::get<T>(objects->at(0).object) : T{};
}

TEST(NameOf, IsWhatTheReadersRead) {
  for (const auto phase : {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded,
                           PodPhase::kFailed, PodPhase::kUnknown}) {
    const auto pod = ReadFirst<Pod>(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}, "
        "status: {phase: " +
        std::string(NameOf(phase)) + "}}");
    EXPECT_EQ(pod.status.phase, phase);
  }
  for (const auto effect :
       {TaintEffect::kNoSchedule, TaintEffect::kPreferNoSchedule, TaintEffect::kNoExecute}) {
    const auto node = ReadFirst<Node>(
        "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: k, effect: " +
        std::string(NameOf(effect)) + "}]}}");
    ASSERT_EQ(node.taints.size(), 1U);
    EXPECT_EQ(node.taints[0].effect, effect);
  }
  EXPECT_EQ(NameOf(TaintEffect::kNone), "") << "every effect";
}

TEST(NameOf, TellsValuesApart) {
  EXPECT_EQ(NameOf(SelectorOperator::kDoesNotExist), "DoesNotExist");
  EXPECT_EQ(NameOf(TolerationOperator::kEqual), "Equal");
  EXPECT_EQ(Named(SelectorOperator::kGt), std::pair(std::string_view("Gt"), SelectorOperator::kGt));
}

}  // namespace
}  // namespace knx::k8s
