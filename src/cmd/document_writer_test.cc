#include "cmd/document_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "cmd/json_writer.h"
#include "cmd/yaml_writer.h"

namespace knx::cmd {
namespace {

void WriteSample(DocumentWriter& out) {
  out.BeginMap();
  out.Key("name");
  out.Text("true");
  out.Key("empty");
  out.BeginList();
  out.EndList();
  out.Key("nothing");
  out.BeginMap();
  out.EndMap();
  out.Key("list");
  out.BeginList();
  out.Text("a");
  out.BeginMap();
  out.Key("x");
  out.Number(std::int64_t{-1});
  out.Key("nvidia.com/gpu");
  out.BeginMap();
  out.Key("y");
  out.Bool(true);
  out.EndMap();
  out.EndMap();
  out.BeginList();
  out.EndList();
  out.EndList();
  out.EndMap();
}

TEST(JsonWriter, WritesMapsListsAndEmptyOnes) {
  std::string text;
  JsonWriter writer(text);
  WriteSample(writer);
  EXPECT_EQ(text, R"({
  "name": "true",
  "empty": [],
  "nothing": {},
  "list": [
    "a",
    {
      "x": -1,
      "nvidia.com/gpu": {
        "y": true
      }
    },
    []
  ]
}
)");
}

TEST(YamlWriter, WritesMapsListsAndEmptyOnes) {
  std::string text;
  YamlWriter writer(text);
  WriteSample(writer);
  EXPECT_EQ(text, R"(name: "true"
empty: []
nothing: {}
list:
  - "a"
  - x: -1
    "nvidia.com/gpu":
      y: true
  - []
)");
}

TEST(DocumentWriter, WritesTimesAndCoresExactly) {
  std::string text;
  JsonWriter writer(text);
  writer.Seconds({});
  writer.Seconds(Duration::Milliseconds(12'003));
  writer.Seconds(Duration::Nanoseconds(-1));
  writer.Thousandths(1500);
  writer.Number(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(text, "0\n12.003\n-0.000000001\n1.5\n18446744073709551615\n");
}

TEST(QuotedText, IsAlwaysValidUtf8WithoutControlCharacters) {
  struct Case {
    std::string_view name, text, want;
  };
  const Case cases[] = {
      {.name = "plain", .text = "a b", .want = R"("a b")"},
      {.name = "quotes", .text = "a\"b\\c", .want = R"("a\"b\\c")"},
      {.name = "lines", .text = "a\nb\tc\r", .want = R"("a\nb\tc\r")"},
      {.name = "control", .text = "\x1b\x7f", .want = R"("\u001b\u007f")"},
      {.name = "characters", .text = "é×…🙂", .want = R"("é×…🙂")"},
      {.name = "stray byte",
       .text = "a\xFF"
               "b",
       .want = "\"a\xEF\xBF\xBD"
               "b\""},
      {.name = "cut off", .text = "a\xE2\x80", .want = "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
      {.name = "too long a form", .text = "\xC0\x80", .want = "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
      {.name = "half of a pair",
       .text = "\xED\xA0\x80",
       .want = "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(QuotedText(c.text), c.want);
  }
  EXPECT_EQ(QuotedText(std::string_view("\0", 1)), R"("\u0000")");
}

}  // namespace
}  // namespace knx::cmd
