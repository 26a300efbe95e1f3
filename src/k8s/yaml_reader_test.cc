#include "k8s/yaml_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knx::k8s {
namespace {

// Reads `text` with `visit`; the error, or nothing.
std::string ReadText(std::string_view text, UnknownFields unknown, FieldReader::Visit visit) {
  const auto documents = ParseYaml(text, "f.yaml");
  if (!documents.ok()) return documents.error().ToString();
  const Status status = ReadNode(documents->front(), {.file = "f.yaml", .unknown = unknown}, visit);
  return status.ok() ? "" : status.error().ToString();
}
std::string ReadText(std::string_view text, FieldReader::Visit visit) {
  return ReadText(text, UnknownFields::kIgnore, visit);
}

template <class T, class... Limits>
std::pair<std::string, T> ReadOne(std::string_view value, Limits... limits) {
  T out{};
  const std::string error = ReadText(fmt::format("a:\n  b: {}", value), [&](FieldReader& fields) {
    fields.Map("a", [&](FieldReader& a) { a.Read("b", out, limits...); });
  });
  return {error, out};
}

TEST(FieldReader, ReadsEveryType) {
  EXPECT_EQ(ReadOne<std::string>("x").second, "x");
  EXPECT_EQ(ReadOne<std::string>("\"5\"").second, "5");
  EXPECT_EQ(ReadOne<std::string>("2026-01-31").second, "2026-01-31");
  EXPECT_EQ(ReadOne<bool>("yes").second, true);
  EXPECT_EQ(ReadOne<std::int32_t>("-2147483648").second, -2147483648);
  EXPECT_EQ(ReadOne<std::int64_t>("9223372036854775807").second, INT64_MAX);
  EXPECT_EQ(ReadOne<double>("1.5e3").second, 1500.0);
  EXPECT_EQ(ReadOne<double>("+.5").second, 0.5);
  EXPECT_EQ(ReadOne<Quantity>("1.5").second, Quantity::FromMilli(1500));
  EXPECT_EQ(ReadOne<Quantity>("'100m'").second, Quantity::FromMilli(100));
  EXPECT_EQ(ReadOne<Quantity>("2Ki").second, Quantity::FromUnits(2048));
  EXPECT_EQ(ReadOne<Duration>("1m30s").second, Duration::Seconds(90));
  EXPECT_EQ(ReadOne<Time>("1970-01-01T00:00:01Z").second, Time{1'000'000'000});
  EXPECT_EQ(ReadOne<std::vector<std::string>>("[x, z]").second,
            (std::vector<std::string>{"x", "z"}));
  EXPECT_EQ(ReadOne<StringMap>("{y: b, x: a, z: }").second,
            (StringMap{{"x", "a"}, {"y", "b"}, {"z", ""}}));
  EXPECT_EQ(ReadOne<ResourceList>("{memory: 1Ki, cpu: 2, x: }").second,
            (ResourceList{{"cpu", Quantity::FromUnits(2)},
                          {"memory", Quantity::FromUnits(1024)},
                          {"x", Quantity()}}));
  EXPECT_EQ(ReadOne<std::optional<std::string>>("~").second, std::nullopt);
  EXPECT_EQ(ReadOne<std::optional<std::string>>("x").second, "x");
}

TEST(FieldReader, NamesFieldValueAndWhatIsAllowed) {
  using Strings = std::vector<std::string>;
  constexpr IntegerLimits kPort{.min = 1, .max = 65535};
  const std::pair<std::string, std::string> cases[] = {
      {ReadOne<std::string>("5").first,
       "f.yaml:2:6: a.b: expected a string, found the number 5; quote it: \"5\""},
      {ReadOne<std::string>("on").first,
       "f.yaml:2:6: a.b: expected a string, found the boolean on; quote it: \"on\""},
      {ReadOne<std::string>("[x]").first, "f.yaml:2:6: a.b: expected a string, found a list"},
      {ReadOne<bool>("'true'").first,
       "f.yaml:2:6: a.b: expected true or false, found the string \"true\""},
      {ReadOne<bool>("1").first, "f.yaml:2:6: a.b: expected true or false, found the number 1"},
      {ReadOne<std::int32_t>("x").first,
       "f.yaml:2:6: a.b: expected a whole number in decimal digits, found the string \"x\""},
      {ReadOne<std::int32_t>("'5'").first,
       "f.yaml:2:6: a.b: expected a whole number in decimal digits, found the string \"5\""},
      {ReadOne<std::int32_t>("010").first,
       "f.yaml:2:6: a.b: expected a whole number in decimal digits, found the number 010"},
      {ReadOne<std::int32_t>("1.0").first,
       "f.yaml:2:6: a.b: expected a whole number in decimal digits, found the number 1.0"},
      {ReadOne<std::int32_t>("2147483648").first,
       "f.yaml:2:6: a.b: 2147483648 is out of range, allowed is -2147483648 to 2147483647"},
      {ReadOne<std::int64_t>("9223372036854775808").first,
       "f.yaml:2:6: a.b: 9223372036854775808 is out of range, allowed is -9223372036854775808 to "
       "9223372036854775807"},
      {ReadOne<std::int32_t>("0", kPort).first,
       "f.yaml:2:6: a.b: 0 is out of range, allowed is 1 to 65535"},
      {ReadOne<double>(".inf").first, "f.yaml:2:6: a.b: expected a number, found the number .inf"},
      {ReadOne<double>("1e999").first,
       "f.yaml:2:6: a.b: expected a number, found the number 1e999"},
      {ReadOne<double>("'1'").first, "f.yaml:2:6: a.b: expected a number, found the string \"1\""},
      {ReadOne<Quantity>("{}").first, "f.yaml:2:6: a.b: expected a quantity, found a map"},
      {ReadOne<Quantity>("true").first,
       "f.yaml:2:6: a.b: expected a quantity, found the boolean true"},
      {ReadOne<Duration>("5").first,
       "f.yaml:2:6: a.b: expected a duration such as 1m30s, found the number 5"},
      {ReadOne<Time>("5").first,
       "f.yaml:2:6: a.b: expected a time such as 2026-01-31T12:00:00Z, found the number 5"},
      {ReadOne<Strings>("x").first, "f.yaml:2:6: a.b: expected a list, found the string \"x\""},
      {ReadOne<Strings>("[x, 1]").first,
       "f.yaml:2:10: a.b[1]: expected a string, found the number 1; quote it: \"1\""},
      {ReadOne<Strings>("[x, ~]").first, "f.yaml:2:10: a.b[1]: expected a string, found nothing"},
      {ReadOne<StringMap>("[x]").first, "f.yaml:2:6: a.b: expected a map, found a list"},
      {ReadOne<StringMap>("{x: [1]}").first, "f.yaml:2:10: a.b.x: expected a string, found a list"},
      {ReadOne<ResourceList>("{nvidia.com/gpu: -1}").first,
       "f.yaml:2:23: a.b[\"nvidia.com/gpu\"]: must not be negative, but is -1"},
      {ReadOne<Quantity>(std::string(200, '1')).first,
       "f.yaml:2:6: a.b: \"" + std::string(80, '1') +
           "...\" is too long, at most 100 characters are allowed"},
  };
  for (const auto& [got, want] : cases) EXPECT_EQ(got, want);
  EXPECT_TRUE(ReadOne<Quantity>("2 cores").first.starts_with("f.yaml:2:6: a.b: ")) << "quantity";
  EXPECT_TRUE(ReadOne<Duration>("soon").first.starts_with("f.yaml:2:6: a.b: ")) << "duration";
  EXPECT_TRUE(ReadOne<Time>("soon").first.starts_with("f.yaml:2:6: a.b: ")) << "time";
}

TEST(FieldReader, LeavesDefaultsAloneAndSaysWhetherAFieldWasThere) {
  std::string text = "default";
  std::int32_t number = 7;
  bool visited = false;
  EXPECT_EQ(ReadText("a: ~\nb: 1\nc: []\nd: x\n",
                     [&](FieldReader& fields) {
                       EXPECT_FALSE(fields.Read("a", text));
                       EXPECT_FALSE(fields.Read("absent", text));
                       EXPECT_TRUE(fields.Read("b", number));
                       EXPECT_FALSE(fields.Map("a", [&](FieldReader&) { visited = true; }));
                       EXPECT_TRUE(fields.ForEach("c", [&](FieldReader&) { visited = true; }));
                       EXPECT_FALSE(fields.Has("a"));
                       EXPECT_TRUE(fields.Has("c"));
                       EXPECT_TRUE(fields.HasNumber("b"));
                       EXPECT_FALSE(fields.HasNumber("d"));
                       EXPECT_EQ(fields.Node("a"), nullptr);
                       ASSERT_NE(fields.Node("d"), nullptr);
                       EXPECT_EQ(fields.Node("d")->text, "x");
                       EXPECT_EQ(fields.path(), "");
                     }),
            "");
  EXPECT_EQ(text, "default");
  EXPECT_EQ(number, 1);
  EXPECT_FALSE(visited);
}

TEST(FieldReader, KeepsTheFirstErrorAndReadsNothingAfterIt) {
  std::string later = "untouched";
  int visits = 0;
  EXPECT_EQ(ReadText("a: [x]\nb: y\nc: [1, 2]\n",
                     [&](FieldReader& fields) {
                       std::int32_t number = 0;
                       EXPECT_FALSE(fields.Read("a", number));
                       EXPECT_FALSE(fields.ok());
                       EXPECT_FALSE(fields.Read("b", later));
                       EXPECT_FALSE(fields.Require("zzz", later));
                       EXPECT_FALSE(fields.ForEach("c", [&](FieldReader&) { ++visits; }));
                       fields.Fail("b", "too late");
                       fields.FailHere("too late");
                     }),
            "f.yaml:1:4: a: expected a whole number in decimal digits, found a list");
  EXPECT_EQ(later, "untouched");
  EXPECT_EQ(visits, 0);
}

TEST(FieldReader, StopsAListAtItsFirstError) {
  int visits = 0;
  EXPECT_EQ(
      ReadText("a: [{b: 1}, {b: x}, {b: 2}]",
               [&](FieldReader& fields) {
                 fields.ForEach("a", [&](FieldReader& item) {
                   std::int32_t number = 0;
                   ++visits;
                   item.Read("b", number);
                 });
               }),
      "f.yaml:1:17: a[1].b: expected a whole number in decimal digits, found the string \"x\"");
  EXPECT_EQ(visits, 2);
}

TEST(FieldReader, ReportsErrorsOfTheCallerWithPathAndPlace) {
  const auto fail = [](std::string_view text, std::string_view key) {
    return ReadText(text, [key](FieldReader& fields) {
      fields.ForEachEntry("m", [key](std::string_view, FieldReader& value) {
        key.empty() ? value.FailHere("no good") : value.Fail(key, "no good");
      });
    });
  };
  EXPECT_EQ(fail("m:\n  x: {y: 1}", ""), "f.yaml:2:6: m.x: no good");
  EXPECT_EQ(fail("m:\n  x: {y: 1}", "y"), "f.yaml:2:10: m.x.y: no good");
  EXPECT_EQ(fail("m:\n  x: {y: 1}", "z"), "f.yaml:2:6: m.x.z: no good");
  EXPECT_EQ(fail("m:\n  x.y: {}", ""), "f.yaml:2:8: m[\"x.y\"]: no good");
  EXPECT_EQ(fail("m:\n  x:\n\n\nz: 1\n", ""), "f.yaml:2:3: m.x: no good");
}

TEST(FieldReader, RefusesWhatIsMissingOrNotAMap) {
  std::string out;
  const auto require = [&](FieldReader& fields) { fields.Require("name", out); };
  EXPECT_EQ(ReadText("{x: 1}", require), "f.yaml:1:1: name: missing, but required");
  EXPECT_EQ(ReadText("name: ~", require), "f.yaml:1:1: name: missing, but required");
  EXPECT_EQ(ReadText("[1]", require), "f.yaml:1:1: expected a map, found a list");
  EXPECT_EQ(ReadText("a: [~]",
                     [&](FieldReader& fields) {
                       fields.ForEach("a", [&](FieldReader& item) { item.Read("x", out); });
                     }),
            "f.yaml:1:5: a[0]: expected a map, found nothing");
  EXPECT_EQ(
      ReadText("a: 1", [&](FieldReader& fields) { fields.RequireMap("b", [](FieldReader&) {}); }),
      "f.yaml:1:1: b: missing, but required");
}

TEST(FieldReader, ListsTheWordsOfAnEnum) {
  int out = 0;
  const auto read = [&](FieldReader& fields) {
    fields.ReadEnum("a", out, {{"", 1}, {"One", 1}, {"Two", 2}});
  };
  EXPECT_EQ(ReadText("a: Two", read), "");
  EXPECT_EQ(out, 2);
  EXPECT_EQ(ReadText("a: ''", read), "");
  EXPECT_EQ(out, 1);
  EXPECT_EQ(ReadText("a: one", read),
            "f.yaml:1:4: a: \"one\" is not allowed; allowed are One, Two");
  EXPECT_EQ(ReadText("a: 1", read),
            "f.yaml:1:4: a: expected a string, found the number 1; quote it: \"1\"");
}

TEST(FieldReader, RefusesUnknownFieldsIfAsked) {
  const auto read = [](FieldReader& fields) {
    std::string out;
    fields.Read("name", out);
    fields.Allow({"later"});
    fields.Map("inner", [&](FieldReader& inner) { inner.Read("x", out); });
    fields.ForEach("list", [&](FieldReader& item) { item.Read("x", out); });
    fields.Node("raw");
  };
  const auto strict = [&](std::string_view text) {
    return ReadText(text, UnknownFields::kRefuse, read);
  };
  EXPECT_EQ(strict("name: a\nlater: [1]\ninner: {x: a}\nlist: [{x: a}]\nraw: {any: thing}"), "");
  EXPECT_EQ(strict("name: a\nnmae: b\n"),
            "f.yaml:2:1: nmae: unknown field; allowed are inner, later, list, name, raw");
  EXPECT_EQ(strict("inner:\n  x: a\n  y: ~\n"),
            "f.yaml:3:3: inner.y: unknown field; allowed are x");
  EXPECT_EQ(strict("list: [{x: a}, {z: a}]"),
            "f.yaml:1:17: list[1].z: unknown field; allowed are x");
  EXPECT_EQ(ReadText("name: a\nnmae: b\n", read), "") << "ignored by default";
}

TEST(FieldReader, ReadsAPartOfADocumentLaterUnderItsPath) {
  const auto documents = ParseYaml("plugin:\n  args: {weight: x}\n", "f.yaml");
  ASSERT_TRUE(documents.ok());
  const YamlNode* args = documents->front().Find("plugin")->Find("args");
  std::int32_t weight = 0;
  const Status status = ReadNode(*args, {.file = "f.yaml", .path = "plugin.args"},
                                 [&](FieldReader& fields) { fields.Read("weight", weight); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().ToString(),
            "f.yaml:2:18: plugin.args.weight: expected a whole number in decimal digits, found the "
            "string \"x\"");
}

}  // namespace
}  // namespace knx::k8s
