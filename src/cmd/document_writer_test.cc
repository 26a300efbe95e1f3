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

}  // namespace
}  // namespace knx::cmd
