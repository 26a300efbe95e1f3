#include "scenario/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario.h"

namespace knx::scenario {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

k8s::YamlNode DocumentOf(const std::string& text) {
  auto documents = k8s::ParseYaml(text, "v.yaml");
  KNX_CHECK(documents.ok(), documents.ok() ? "" : documents.error().message);
  return std::move(documents->front());
}

Result<std::string> TextInVariant(const std::string& text, const Variant& variant) {
  KNX_TRY(const k8s::YamlNode document, InVariant(DocumentOf("text: " + text), variant, "v.yaml"));
  return document.Find("text")->text;
}

TEST(Variants, AreAllCombinationsWithTheLastNameChangingFastest) {
  const auto variants =
      VariantsOf(DocumentOf("variants: { n: [1, 16], order: [forwards, shuffled] }"), "v.yaml");
  ASSERT_TRUE(variants.ok()) << variants.error().ToString();
  std::vector<std::string> names;
  for (const Variant& variant : *variants) names.push_back(variant.ToString());
  EXPECT_THAT(names, ElementsAre("n=1, order=forwards", "n=1, order=shuffled",
                                 "n=16, order=forwards", "n=16, order=shuffled"));
}

TEST(Variants, WithoutThemThereIsOne) {
  const auto variants = VariantsOf(DocumentOf("scenario: s"), "v.yaml");
  ASSERT_TRUE(variants.ok());
  ASSERT_EQ(variants->size(), 1u);
  EXPECT_EQ(*TextInVariant("costs $n", variants->front()), "costs $n");
}

TEST(Variants, StandInTheSteadOfTheirNames) {
  const Variant variant{{{"n", "7"}, {"order", "shuffled"}}};
  struct Case {
    const char *text, *want;
  };
  for (const Case& c :
       {Case{"$n", "7"}, Case{"a-$n-b", "a-7-b"}, Case{"$(n)", "7"}, Case{"$(n*3)", "21"},
        Case{"$(n/2)", "3"}, Case{"$(n%2)", "1"}, Case{"$(n+1)", "8"}, Case{"$(n-9)", "-2"},
        Case{"$(n*3-1)", "20"}, Case{"$order", "shuffled"}, Case{"$n$n", "77"}, Case{"$i", "$i"},
        Case{"$(i%$n)", "$(i%7)"}, Case{"$(i/$(n*2))", "$(i/14)"}, Case{"a $ alone", "a $ alone"},
        Case{"\"$\"", "$"}}) {
    const auto text = TextInVariant(c.text, variant);
    ASSERT_TRUE(text.ok()) << c.text << ": " << text.error().ToString();
    EXPECT_EQ(*text, c.want) << c.text;
  }
}

TEST(Variants, RefuseWhatTheyDoNotKnow) {
  const Variant variant{{{"n", "7"}, {"order", "shuffled"}}};
  struct Case {
    const char *text, *want;
  };
  for (const Case& c :
       {Case{"$m", "v.yaml:1:7: \"$m\": is not among the variants"},
        Case{"$(m*2)", "is not among the variants"},
        Case{"$(order+1)", "shuffled is not a number here"}, Case{"$(n*)", "is not a name with"},
        Case{"$(n/0)", "is not a name with"}, Case{"$(n+1*2)", "is not a name with"},
        Case{"$(n*99999999999)", "is not a name with"}, Case{"$(n", "has no ) behind its $("}}) {
    const auto text = TextInVariant(c.text, variant);
    ASSERT_FALSE(text.ok()) << c.text;
    EXPECT_THAT(text.error().ToString(), HasSubstr(c.want));
  }
}

TEST(Variants, AreRefusedWithTheirPlace) {
  struct Case {
    const char *text, *want;
  };
  for (const Case& c : {Case{"variants: [1]", "v.yaml:1:11: variants"},
                        Case{"variants: { n: 1 }", "v.yaml:1:16: variants.n: must be a list"},
                        Case{"variants: { n: [] }", "variants.n: must be a list"},
                        Case{"variants: { i: [1] }", "variants.i: $i is the number"},
                        Case{"variants: { a-b: [1] }", "variants.a-b: its name must be a word"},
                        Case{"variants: { n: [{}] }", "each value must be a number or a word"},
                        Case{"variants: { n: [1,2,3,4,5,6,7,8,9,10,11], m: [1,2,3,4,5,6,7,8,9,10],"
                             " o: [1,2,3,4,5,6,7,8,9,10] }",
                             "variants.o: that makes more than 1000 variants"}}) {
    const auto variants = VariantsOf(DocumentOf(c.text), "v.yaml");
    ASSERT_FALSE(variants.ok()) << c.text;
    EXPECT_THAT(variants.error().ToString(), HasSubstr(c.want));
  }
}

TEST(Variants, OfAScenarioAreReadOneByOne) {
  const std::string text =
      "scenario: s\nwhy: w\nvariants: { n: [2, 3], order: [backwards] }\nsteps:\n"
      "- create: { pod: p-$i, count: $n, order: $order, requests: { cpu: $(n*2) } }\n"
      "- expect: { placed: $n }\n";
  const auto second = ReadScenario(DocumentOf(text), "v.yaml", 1);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_EQ(second->variants, 2u);
  EXPECT_EQ(second->variant, "n=3, order=backwards");
  const auto& create = std::get<Create>(second->steps[0].what);
  EXPECT_EQ(create.what.count, 3);
  EXPECT_EQ(create.order, Order::kBackwards);
  EXPECT_EQ(std::get<Expectation>(second->steps[1].what).placed->min, 3);
  const auto third = ReadScenario(DocumentOf(text), "v.yaml", 2);
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().ToString(), "v.yaml:1:1: it has no variant 3: there are 2");
}

}  // namespace
}  // namespace knx::scenario
