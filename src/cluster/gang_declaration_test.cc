#include "cluster/gang_declaration.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace knx::cluster {
namespace {

using Map = k8s::StringMap;

std::optional<GangDeclaration> Read(Map labels, Map annotations = {}) {
  k8s::ObjectMeta meta;
  std::sort(labels.begin(), labels.end());
  std::sort(annotations.begin(), annotations.end());
  meta.labels = std::move(labels);
  meta.annotations = std::move(annotations);
  return ReadGangDeclaration(meta);
}

const std::string kOurs = "pod-group.scheduling.kubenexus.io/";
const std::string kSigs = "pod-group.scheduling.sigs.k8s.io/";
const std::string kKueue = "kueue.x-k8s.io/pod-group-";

TEST(GangDeclaration, EverySpellingIsRead) {
  const GangDeclaration train{"train", 4};
  EXPECT_EQ(Read({{kOurs + "name", "train"}, {kOurs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kSigs + "name", "train"}, {kSigs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kSigs + "name", "train"}, {kSigs + "min-member", "4"}}), train);
  EXPECT_EQ(Read({{kSigs + "name", "train"}, {kOurs + "min-available", "4"}}), train) << "mixed";
  EXPECT_EQ(Read({}, {{kSigs + "name", "train"}, {kSigs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kOurs + "name", "train"}}, {{kOurs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kKueue + "name", "train"}}, {{kKueue + "total-count", "4"}}), train);
}

TEST(GangDeclaration, OurKeysComeBeforeOthersAndLabelsBeforeAnnotations) {
  EXPECT_EQ(Read({{kOurs + "name", "a"},
                  {kSigs + "name", "b"},
                  {kOurs + "min-available", "2"},
                  {kSigs + "min-available", "3"}}),
            (GangDeclaration{"a", 2}));
  EXPECT_EQ(Read({{kOurs + "name", "a"}, {kOurs + "min-available", "2"}},
                 {{kOurs + "name", "b"}, {kOurs + "min-available", "3"}}),
            (GangDeclaration{"a", 2}));
}

TEST(GangDeclaration, HalfADeclarationAndAGangOfOneAreNone) {
  EXPECT_EQ(Read({}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "name", "a"}}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "min-available", "3"}}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "name", ""}, {kOurs + "min-available", "3"}}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "name", "a"}, {kOurs + "min-available", "1"}}), std::nullopt);
}

TEST(GangDeclaration, AMinimumThatCannotBeReadIsNotIgnored) {
  const auto problem = [](const std::string& minimum) {
    const auto read = Read({{kOurs + "name", "a"}, {kOurs + "min-available", minimum}});
    return read ? read->problem : "not a gang";
  };
  EXPECT_EQ(problem("three"),
            "failed to parse min-available value \"three\": a whole number is wanted");
  EXPECT_EQ(problem("3.5"),
            "failed to parse min-available value \"3.5\": a whole number is wanted");
  EXPECT_EQ(problem(" 3"), "failed to parse min-available value \" 3\": a whole number is wanted");
  EXPECT_EQ(problem("0"), "min-available must be at least 1, got 0");
  EXPECT_EQ(problem("-7"), "min-available must be at least 1, got -7");
  EXPECT_EQ(problem("1000001"), "min-available must be at most 1000000, got 1000001");
  EXPECT_EQ(problem("99999999999999999999"),
            "min-available must be at most 1000000, got 99999999999999999999");
}

}  // namespace
}  // namespace knx::cluster
