// Which extenders are asked, about which pods, and who stands for them in a profile.
#include "framework/extender_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/profile_builder.h"
#include "framework/testing_config.h"

namespace knx::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Extender Managing(std::vector<ExtenderResource> resources) {
  Extender extender;
  extender.managed_resources = std::move(resources);
  return extender;
}

TEST(Extenders, ThoseThatCanBeDoneWithoutComeLast) {
  std::vector<Extender> extenders(4);
  for (std::size_t i = 0; i < extenders.size(); ++i) extenders[i].url_prefix = std::to_string(i);
  extenders[0].ignorable = extenders[2].ignorable = true;
  std::vector<std::string> order;
  for (const Extender& extender : AskingOrder(extenders)) order.push_back(extender.url_prefix);
  EXPECT_THAT(order, ElementsAre("1", "3", "0", "2"));
}

TEST(Extenders, AreInterestedInPodsThatAskForWhatTheyManage) {
  const k8s::ResourceList gpu = {{"cpu", k8s::Quantity{}}, {"example.com/gpu", k8s::Quantity{}}};
  k8s::PodSpec plain, asks, limits, init;
  for (k8s::PodSpec* pod : {&plain, &asks, &limits, &init}) pod->containers.resize(2);
  asks.containers[1].resources.requests = gpu;
  limits.containers[0].resources.limits = gpu;
  init.init_containers.resize(1);
  init.init_containers[0].resources.requests = gpu;
  const Extender manager = Managing({{"example.com/other", false}, {"example.com/gpu", false}});
  EXPECT_FALSE(IsInterested(manager, plain));
  EXPECT_TRUE(IsInterested(Managing({}), plain)) << "who manages nothing is asked about all";
  for (const k8s::PodSpec* pod : {&asks, &limits, &init}) EXPECT_TRUE(IsInterested(manager, *pod));
  EXPECT_FALSE(IsInterested(Managing({{"example.com/other", false}}), asks));
}

TEST(Extenders, WhatTheyAccountForIsIgnoredByPlugins) {
  EXPECT_THAT(IgnoredResources(
                  {Managing({{"a.b/c", true}, {"a.b/d", false}}), Managing({{"a.b/e", true}})}),
              ElementsAre("a.b/c", "a.b/e"));
  EXPECT_THAT(IgnoredResources({Managing({})}), IsEmpty());
}

TEST(Extenders, OneOfTheProfileStandsForAll) {
  SchedulerConfiguration config = DefaultConfiguration();
  EXPECT_FALSE(BuildProfiles(config, {})->front().extender.has_value());
  config.extenders.resize(2);
  const auto profiles = BuildProfiles(config, {});
  const Profile& profile = profiles->front();
  ASSERT_TRUE(profile.extender.has_value());
  const Plugin& stand_in = *profile.plugins[*profile.extender];
  EXPECT_EQ(stand_in.name(), kExtenderPlugin);
  for (std::size_t kind = 0; kind < static_cast<std::size_t>(EventKind::kCount); ++kind) {
    EXPECT_TRUE(stand_in.events().Contains(static_cast<EventKind>(kind)))
        << "anything may change an extender's mind";
  }
}

}  // namespace
}  // namespace knx::framework
