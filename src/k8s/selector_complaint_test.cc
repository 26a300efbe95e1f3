#include "k8s/selector_complaint.h"

#include <gtest/gtest.h>

namespace knx::k8s {
namespace {

using Op = SelectorOperator;

// The words are those of Kubernetes 1.36, as bin/knx-oracle repeats them.
TEST(SelectorComplaint, SaysWhatKubernetesSays) {
  constexpr std::string_view kName =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  constexpr std::string_view kValue =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
      " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  const std::string name(kName);
  const std::string value(kValue);
  const std::string longest(64, 'x');
  struct Case {
    LabelSelector selector;
    std::string want;
  };
  const Case cases[] = {
      {{{{"app", "web"}}, {{"tier", Op::kIn, {"a", ""}}}}, ""},
      {{{{"-x", "a"}}, {}}, "key: Invalid value: \"-x\": name part " + name},
      {{{{"app", "not ok!"}}, {}}, "values[0][app]: Invalid value: \"not ok!\": " + value},
      {{{}, {{"app", Op::kIn, {}}}},
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {{{}, {{"app", Op::kExists, {"a", "b"}}}},
       "values: Invalid value: [\"a\",\"b\"]: values set must be empty for exists and does not "
       "exist"},
      {{{}, {{"app", Op::kUnknown, {"a"}, "Near"}}},
       "\"Near\" is not a valid label selector operator"},
      {{{}, {{"app", Op::kGt, {"1"}}}}, "\"Gt\" is not a valid label selector operator"},
      {{{}, {{"/x", Op::kExists, {}}}},
       "key: Invalid value: \"/x\": prefix part must be non-empty"},
      {{{}, {{"a/b/c", Op::kExists, {}}}},
       "key: Invalid value: \"a/b/c\": a valid label key " + name +
           " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
      {{{}, {{"", Op::kIn, {longest}}}},
       "[key: Invalid value: \"\": name part must be non-empty; name part " + name +
           ", values[0][]: Invalid value: \"" + longest + "\": must be no more than 63 bytes]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(ComplaintAbout(c.selector), c.want);
  }
}

TEST(SelectorComplaint, NamesThePlaceInATermOfNodes) {
  NodeSelectorTerm term;
  term.match_expressions = {{"a", Op::kUnknown, {}, "Near"}, {"a", Op::kGt, {"x"}}};
  term.match_fields = {{"metadata.name", Op::kExists, {}}, {"metadata.name", Op::kIn, {}}};
  EXPECT_EQ(
      ComplaintsAbout(term, "[3]"),
      (std::vector<std::string>{
          "[3].matchExpressions[0].operator: Unsupported value: \"Near\": supported values: "
          "\"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"",
          "[3].matchExpressions[1].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, "
          "the value must be an integer",
          "[3].matchFields[0].operator: Unsupported value: \"Exists\": supported values: "
          "\"In\", \"NotIn\"",
          "[3].matchFields[1].values: Invalid value: null: must have one element"}));
  EXPECT_EQ(Together({"a", "b", "a"}), "[a, b]");
}

}  // namespace
}  // namespace knx::k8s
