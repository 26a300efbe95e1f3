#include "k8s/selector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knx::k8s {
namespace {

using Op = SelectorOperator;

const StringMap kLabels = {
    {"cpus", "64"}, {"disk", "ssd"}, {"empty", ""}, {"example.com/rack", "r1"}, {"signed", "-5"}};
constexpr std::string_view kNodeName = "node-1";

std::string LongWord(std::size_t length) { return std::string(length, 'a'); }

TEST(FindValue, FindsWhatIsInTheMapOnly) {
  EXPECT_EQ(*FindValue(kLabels, "cpus"), "64");
  EXPECT_EQ(*FindValue(kLabels, "signed"), "-5");
  EXPECT_EQ(*FindValue(kLabels, "empty"), "");
  for (const std::string_view key : {"", "a", "cpu", "cpuss", "zone"}) {
    EXPECT_EQ(FindValue(kLabels, key), nullptr);
  }
  EXPECT_EQ(FindValue({}, "cpus"), nullptr);
}

struct RequirementCase {
  std::string_view name;
  Requirement requirement;
  bool want;
};

TEST(NodeSelectorTerm, ComparesLabelsAsKubernetesDoes) {
  const RequirementCase cases[] = {
      {"in", {"disk", Op::kIn, {"hdd", "ssd"}}, true},
      {"in, other value", {"disk", Op::kIn, {"hdd"}}, false},
      {"in, no such label", {"zone", Op::kIn, {"a"}}, false},
      {"in, empty value for no such label", {"zone", Op::kIn, {""}}, false},
      {"in, empty value", {"empty", Op::kIn, {""}}, true},
      {"in, prefixed key", {"example.com/rack", Op::kIn, {"r1"}}, true},
      {"not in", {"disk", Op::kNotIn, {"hdd"}}, true},
      {"not in, the value", {"disk", Op::kNotIn, {"hdd", "ssd"}}, false},
      {"not in, no such label", {"zone", Op::kNotIn, {"a"}}, true},
      {"exists", {"disk", Op::kExists, {}}, true},
      {"exists, empty value", {"empty", Op::kExists, {}}, true},
      {"exists, no such label", {"zone", Op::kExists, {}}, false},
      {"does not exist", {"zone", Op::kDoesNotExist, {}}, true},
      {"does not exist, but does", {"disk", Op::kDoesNotExist, {}}, false},
      {"greater", {"cpus", Op::kGt, {"63"}}, true},
      {"greater, equal", {"cpus", Op::kGt, {"64"}}, false},
      {"greater, as numbers", {"cpus", Op::kGt, {"7"}}, true},
      {"greater, leading zero", {"cpus", Op::kGt, {"007"}}, true},
      {"greater, no such label", {"zone", Op::kGt, {"1"}}, false},
      {"greater, label is no number", {"disk", Op::kGt, {"1"}}, false},
      {"greater, label is empty", {"empty", Op::kGt, {"1"}}, false},
      {"less", {"cpus", Op::kLt, {"65"}}, true},
      {"less, equal", {"cpus", Op::kLt, {"64"}}, false},
      {"less, negative label", {"signed", Op::kLt, {"0"}}, true},
      {"less, largest number", {"cpus", Op::kLt, {"9223372036854775807"}}, true},
      {"malformed: in without values", {"disk", Op::kIn, {}}, false},
      {"malformed: not in without values", {"zone", Op::kNotIn, {}}, false},
      {"malformed: not in with a bad value", {"zone", Op::kNotIn, {"a b"}}, false},
      {"malformed: exists with a value", {"disk", Op::kExists, {"ssd"}}, false},
      {"malformed: does not exist with a value", {"zone", Op::kDoesNotExist, {"a"}}, false},
      {"malformed: bad key", {"a/b/c", Op::kDoesNotExist, {}}, false},
      {"malformed: two numbers", {"cpus", Op::kGt, {"1", "2"}}, false},
      {"malformed: number too large", {"cpus", Op::kLt, {"9223372036854775808"}}, false},
      {"malformed: a sign is no label value", {"cpus", Op::kGt, {"-1"}}, false},
  };
  for (const RequirementCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Matches(NodeSelectorTerm{{c.requirement}, {}}, kLabels, kNodeName), c.want);
  }
}

TEST(NodeSelectorTerm, SelectsByFieldOnlyTheName) {
  const RequirementCase cases[] = {
      {"in", {"metadata.name", Op::kIn, {"node-1"}}, true},
      {"in, other", {"metadata.name", Op::kIn, {"node-2"}}, false},
      {"not in", {"metadata.name", Op::kNotIn, {"node-2"}}, true},
      {"not in, the name", {"metadata.name", Op::kNotIn, {"node-1"}}, false},
      {"two values", {"metadata.name", Op::kIn, {"node-1", "node-2"}}, false},
      {"no values", {"metadata.name", Op::kNotIn, {}}, false},
      {"exists", {"metadata.name", Op::kExists, {}}, false},
      {"greater", {"metadata.name", Op::kGt, {"1"}}, false},
      {"other field", {"metadata.namespace", Op::kNotIn, {"a"}}, false},
  };
  for (const RequirementCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Matches(NodeSelectorTerm{{}, {c.requirement}}, kLabels, kNodeName), c.want);
  }
}

TEST(NodeSelector, MatchesIfOneTermHoldsInFull) {
  const Requirement ssd{"disk", Op::kIn, {"ssd"}};
  const Requirement hdd{"disk", Op::kIn, {"hdd"}};
  const Requirement here{"metadata.name", Op::kIn, {"node-1"}};
  const Requirement there{"metadata.name", Op::kIn, {"node-2"}};
  const Requirement malformed{"disk", Op::kExists, {"ssd"}};
  struct Case {
    std::string_view name;
    std::vector<NodeSelectorTerm> terms;
    bool want;
  };
  const Case cases[] = {
      {"no terms", {}, false},
      {"an empty term", {{}}, false},
      {"an empty term beside one that holds", {{}, {{ssd}, {}}}, true},
      {"any term", {{{hdd}, {}}, {{ssd}, {}}}, true},
      {"no term", {{{hdd}, {}}, {{}, {there}}}, false},
      {"all of a term", {{{ssd}, {here}}}, true},
      {"labels but not the field", {{{ssd}, {there}}}, false},
      {"the field but not the labels", {{{ssd, hdd}, {here}}}, false},
      {"a malformed term does not spoil another", {{{malformed}, {}}, {{ssd}, {}}}, true},
      {"a malformed requirement spoils its term", {{{ssd, malformed}, {}}}, false},
      {"a malformed field spoils its term", {{{ssd}, {here, ssd}}}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Matches(NodeSelector{c.terms}, kLabels, kNodeName), c.want);
  }
}

TEST(LabelSelector, NeedsAllOfItsLabelsAndExpressions) {
  struct Case {
    std::string_view name;
    LabelSelector selector;
    bool want;
  };
  const Case cases[] = {
      {"empty selects everything", {}, true},
      {"labels", {{{"cpus", "64"}, {"disk", "ssd"}}, {}}, true},
      {"one label differs", {{{"cpus", "64"}, {"disk", "hdd"}}, {}}, false},
      {"no such label", {{{"zone", ""}}, {}}, false},
      {"expressions", {{}, {{"disk", Op::kIn, {"ssd"}}, {"zone", Op::kDoesNotExist, {}}}}, true},
      {"both, one fails", {{{"disk", "ssd"}}, {{"zone", Op::kExists, {}}}}, false},
      {"numbers are for nodes", {{}, {{"cpus", Op::kGt, {"1"}}}}, false},
      {"malformed expression", {{{"disk", "ssd"}}, {{"zone", Op::kNotIn, {}}}}, false},
      {"malformed label", {{}, {{"-zone", Op::kDoesNotExist, {}}}}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Matches(c.selector, kLabels), c.want);
  }
}

TEST(InvalidReason, KnowsLabelKeysAndValues) {
  const auto key_ok = [](std::string key) {
    return !InvalidReason({std::move(key), Op::kExists, {}}, false);
  };
  for (const char* key : {"a", "A.b_c-1", "example.com/a", "a-b.c/X"}) {
    EXPECT_TRUE(key_ok(key)) << key;
  }
  for (const char* key : {"", "-a", "a.", "a b", "/a", "a/", "a/b/c", "Ex.com/a", "a..b/c",
                          "a-.b/c", ".a/b", "a_b/c", "a\n"}) {
    EXPECT_FALSE(key_ok(key)) << key;
  }
  EXPECT_TRUE(key_ok(fmt::format("{}/{}", LongWord(253), LongWord(63))));
  EXPECT_FALSE(key_ok(fmt::format("{}/{}", LongWord(254), LongWord(63))));
  EXPECT_FALSE(key_ok(LongWord(64)));

  const auto value_ok = [](std::string value) {
    return !InvalidReason({{{"key", std::move(value)}}, {}});
  };
  EXPECT_TRUE(value_ok(""));
  EXPECT_TRUE(value_ok(LongWord(63)));
  EXPECT_FALSE(value_ok(LongWord(64)));
  EXPECT_FALSE(value_ok("-1"));
  EXPECT_FALSE(value_ok("a/b"));
}

TEST(InvalidReason, SaysWhatIsAllowed) {
  EXPECT_EQ(InvalidReason({"cpus", Op::kGt, {"many"}}, false),
            "label cpus with Gt or Lt needs a 64-bit integer, not \"many\"");
  EXPECT_EQ(InvalidReason({"spec.x", Op::kIn, {"a"}}, true),
            "field \"spec.x\" cannot be selected by: only metadata.name can");
  EXPECT_EQ(InvalidReason({{}, {{"cpus", Op::kLt, {"1"}}}}),
            "label cpus: Gt and Lt select nodes only");
  EXPECT_EQ(InvalidReason({{{"a", "b"}}, {{"c", Op::kNotIn, {"d"}}}}), std::nullopt);
}

TEST(Toleration, ToleratesAsKubernetesDoes) {
  using TolerationOp = TolerationOperator;
  const Taint gpu{"gpu", "yes", TaintEffect::kNoSchedule};
  const Taint bare{"gpu", "", TaintEffect::kNoExecute};
  struct Case {
    std::string_view name;
    Toleration toleration;
    bool wants_gpu, wants_bare;
  };
  const Case cases[] = {
      {"equal", {"gpu", "yes", TolerationOp::kEqual, TaintEffect::kNone, {}}, true, false},
      {"equal, no value", {"gpu", "", TolerationOp::kEqual, TaintEffect::kNone, {}}, false, true},
      {"exists", {"gpu", "", TolerationOp::kExists, TaintEffect::kNone, {}}, true, true},
      {"other key", {"cpu", "", TolerationOp::kExists, TaintEffect::kNone, {}}, false, false},
      {"everything", {"", "", TolerationOp::kExists, TaintEffect::kNone, {}}, true, true},
      {"any key, equal", {"", "yes", TolerationOp::kEqual, TaintEffect::kNone, {}}, true, false},
      {"effect", {"gpu", "", TolerationOp::kExists, TaintEffect::kNoExecute, {}}, false, true},
      {"effect only", {"", "", TolerationOp::kExists, TaintEffect::kNoSchedule, {}}, true, false},
      {"greater", {"gpu", "1", TolerationOp::kGt, TaintEffect::kNone, {}}, false, false},
      {"less", {"gpu", "1", TolerationOp::kLt, TaintEffect::kNone, {}}, false, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Tolerates(c.toleration, gpu), c.wants_gpu);
    EXPECT_EQ(Tolerates(c.toleration, bare), c.wants_bare);
  }
}

TEST(Toleration, ComparesNoNumbersWhileTheGateIsOff) {
  const Taint sla{"sla", "950", TaintEffect::kNoSchedule};
  EXPECT_FALSE(Tolerates({"sla", "900", TolerationOperator::kGt, TaintEffect::kNone, {}}, sla));
  EXPECT_FALSE(Tolerates({"sla", "999", TolerationOperator::kLt, TaintEffect::kNone, {}}, sla));
}

TEST(Toleration, OneOfManyIsEnough) {
  const Taint taint{"gpu", "yes", TaintEffect::kNoSchedule};
  const std::vector<Toleration> tolerations = {
      {"cpu", "", TolerationOperator::kExists, TaintEffect::kNone, {}},
      {"gpu", "yes", TolerationOperator::kEqual, TaintEffect::kNone, {}}};
  EXPECT_TRUE(Tolerates(tolerations, taint));
  EXPECT_FALSE(Tolerates(std::span(tolerations).first(1), taint));
  EXPECT_FALSE(Tolerates(std::span<const Toleration>(), taint));
}

}  // namespace
}  // namespace knx::k8s
