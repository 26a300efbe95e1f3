#include "plugins/nexus/profile_classifier/profile_classifier.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

Result<cluster::ProfileRules> RulesOf(std::string_view yaml) {
  auto made = testing::MakeFromYaml(&ProfileClassifier::Make, yaml);
  if (!made.ok()) return std::move(made).error();
  return dynamic_cast<const ProfileClassifier&>(**made).profile_rules();
}

TEST(ProfileClassifier, HasTheRulesThatAreDocumented) {
  std::ifstream file(std::string(KNX_SOURCE_DIR) +
                     "/src/plugins/nexus/profile_classifier/README.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::size_t begin = page.find("```yaml\nrules:\n") + 8;
  const std::string documented = page.substr(begin, page.find("```", begin) - begin);
  const auto read = RulesOf(documented + "defaultRules: false\n");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  const std::vector<cluster::ProfileRule> built = cluster::DefaultProfileRules();
  ASSERT_EQ(read->rules().size(), built.size());
  for (std::size_t i = 0; i < built.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(read->rules()[i], built[i]);
  }
}

TEST(ProfileClassifier, OwnRulesComeBeforeTheDefaultOnes) {
  const auto rules = RulesOf("{rules: [{key: team, sets: tenant}], defaultTier: silver}");
  ASSERT_TRUE(rules.ok()) << rules.error().ToString();
  EXPECT_EQ(rules->rules().front().key, "team");
  EXPECT_EQ(rules->rules().size(), cluster::DefaultProfileRules().size() + 1);
  EXPECT_EQ(rules->defaults().tier, cluster::Tier::kSilver);
  const auto alone = RulesOf("{rules: [{key: team, sets: tenant}], defaultRules: false}");
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->rules().size(), 1U);
}

TEST(ProfileClassifier, RefusesArgumentsThatMakeNoSense) {
  struct Case {
    std::string_view yaml, want;
  };
  const Case cases[] = {
      {"{rules: [{key: a}]}", "sets"},
      {"{rules: [{sets: tier}]}", "key"},
      {"{rules: [{from: nowhere, sets: tier}]}", "namespaceLabel"},
      {"{rules: [{from: priorityClass, key: a, sets: tier, to: gold}]}", "only labels"},
      {"{rules: [{from: priorityClass, values: [a], sets: tier}]}", "to"},
      {"{rules: [{key: a, sets: tier, to: platinum}]}", "gold, silver, bronze"},
      {"{rules: [{key: a, sets: type, to: gold}]}", "training, inference"},
      {"{rules: [{key: a, sets: preemptible, to: maybe}]}", "true, false"},
      {"{rules: [{from: operator, values: [Sparks], sets: type}]}", "is no operator"},
      {"{rules: [{from: operator, sets: tier}]}", "to"},
      {"{rules: [{from: pod, values: [a], sets: type, to: batch}]}", "no values"},
      {"{rules: [{from: namespaceLabel, key: a, gang: true, sets: tier}]}", "all of its pods"},
      {"{rules: [{key: a, sets: tier, gpusAtLeast: -1}]}", "gpusAtLeast"},
      {"{rules: [{key: a, sets: tier, when: b}]}", "when"},
      {"{defaultTier: platinum}", "defaultTier"},
      {"{defaultType: none}", "defaultType"},
      {"{tiers: []}", "tiers"},
      {"{kind: NodeAffinityArgs}", "ProfileClassifierArgs"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto rules = RulesOf(c.yaml);
    ASSERT_FALSE(rules.ok());
    EXPECT_NE(rules.error().ToString().find(c.want), std::string::npos) << rules.error().ToString();
  }
}

TEST(ProfileClassifier, TooManyRulesAreRefused) {
  std::string yaml = "{rules: [";
  for (int i = 0; i < 256; ++i) yaml += "{key: a, sets: tier}, ";
  const auto rules = RulesOf(yaml + "]}");
  ASSERT_FALSE(rules.ok());
  EXPECT_NE(rules.error().ToString().find("too many"), std::string::npos);
}

}  // namespace
}  // namespace knx::plugins
