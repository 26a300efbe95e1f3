// Members of one gang that say different things about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kOurs = "pod-group.scheduling.kubenexus.io/";

class GangConflictTest : public ::testing::Test {
 protected:
  static PodBuilder Member(const std::string& name) {
    return PodBuilder(name).Asks("cpu", "1").Label(kOurs + "name", "train");
  }
  void Says(const std::string& name, const std::string& minimum) {
    harness_.Pod(Member(name).Label(kOurs + "min-available", minimum));
  }
  std::vector<std::string> Warnings() {
    harness_.Schedule();
    std::vector<std::string> warnings;
    for (const std::string& note : harness_.notes()) {
      if (note.starts_with("PodGroupConflict: ")) warnings.push_back(note);
    }
    return warnings;
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

constexpr const char* kTwoOfFour =
    "PodGroupConflict: pod group default/train: the pod wants 2 pods to start together, another of "
    "the group 4: the greatest counts";
constexpr const char* kThreeOfFour =
    "PodGroupConflict: pod group default/train: the pod wants 3 pods to start together, another of "
    "the group 4: the greatest counts";

TEST_F(GangConflictTest, WhoSaysLessThanAnotherIsWarnedOfOnceWhicheverCameFirst) {
  Says("a", "2");
  EXPECT_THAT(Warnings(), IsEmpty());
  Says("b", "4");
  EXPECT_THAT(Warnings(), ElementsAre(kTwoOfFour));
  Says("c", "3");
  Says("d", "4");
  EXPECT_THAT(Warnings(), ElementsAre(kTwoOfFour, kThreeOfFour));
  Says("e", "9");
  harness_.Pass(Duration::Minutes(1));
  EXPECT_EQ(Warnings().size(), 4U) << "of b and d, and of nobody twice";
  EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
}

TEST_F(GangConflictTest, WhoAgreesIsNotWarnedOf) {
  for (const char* name : {"a", "b", "c"}) Says(name, "3");
  EXPECT_THAT(Warnings(), IsEmpty());
}

// What roles and sub-groups make of a minimum is said by nobody.
TEST_F(GangConflictTest, RolesAndSubGroupsAreNoContradiction) {
  harness_.Pod(Member("ps")
                   .Label(kOurs + "min-available", "2")
                   .Label(kOurs + "role", "ps")
                   .Label(kOurs + "role-min-available", "1"));
  harness_.Pod(Member("worker")
                   .Label(kOurs + "min-available", "2")
                   .Label(kOurs + "role", "worker")
                   .Label(kOurs + "role-min-available", "4"));
  harness_.Pod(Member("large")
                   .Label(kOurs + "sub-group", "a")
                   .Label(kOurs + "sub-group-min-available", "6"));
  harness_.Pod(Member("small")
                   .Label(kOurs + "sub-group", "b")
                   .Label(kOurs + "sub-group-min-available", "2"));
  EXPECT_THAT(Warnings(), IsEmpty());
}

}  // namespace
}  // namespace knx::engine
