#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "k8s/yaml_reader.h"

namespace knx::k8s {
namespace {

using Kind = YamlNode::Kind;

// The tree on one line: plain scalars as they are, texts in quotes.
std::string Dump(const YamlNode& node) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kScalar:
      return node.quoted ? fmt::format("\"{}\"", node.text) : node.text;
    case Kind::kList:
      for (const YamlNode& child : node.children) parts.push_back(Dump(child));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case Kind::kMap:
      for (const YamlNode& child : node.children) parts.push_back(child.key + ": " + Dump(child));
      return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return "?";
}

std::string Parsed(std::string_view text) {
  const Result<std::vector<YamlNode>> documents = ParseYaml(text, "f.yaml");
  if (!documents.ok()) return "error: " + documents.error().ToString();
  std::vector<std::string> parts;
  for (const YamlNode& document : *documents) parts.push_back(Dump(document));
  return fmt::format("{}", fmt::join(parts, " --- "));
}

TEST(ParseYaml, TurnsTextIntoATree) {
  struct Case {
    std::string_view name, text, want;
  };
  const Case cases[] = {
      {"nothing", "", ""},
      {"only comments", "# a\n# b\n", ""},
      {"scalar", "a", "a"},
      {"map in block style", "a: 1\nb:\n  c: x y\n", "{a: 1, b: {c: x y}}"},
      {"list in block style", "- a\n- - b\n  - c\n", "[a, [b, c]]"},
      {"flow style", "{a: [1, 'two'], b: {}}", "{a: [1, \"two\"], b: {}}"},
      {"nulls", "a:\nb: ~\nc: null\nd: ''\n", "{a: null, b: null, c: null, d: \"\"}"},
      {"block scalars are texts", "a: |\n  1\nb: >\n  x\n  y\n", "{a: \"1\n\", b: \"x y\n\"}"},
      {"tags", "a: !!str 5\nb: !!int 5\nc: !!map {}\nd: ! 5", "{a: \"5\", b: 5, c: {}, d: \"5\"}"},
      {"documents", "---\na: 1\n---\n# none\n---\nb: 2\n...\n---\nc: 3",
       "{a: 1} --- {b: 2} --- {c: 3}"},
      {"alias", "a: &x [1, 2]\nb: *x\n", "{a: [1, 2], b: [1, 2]}"},
      {"alias as a key", "a: &x k\n*x : 2\n", "{a: k, k: 2}"},
      {"the last anchor of a name counts", "- &x 1\n- &x 2\n- *x\n", "[1, 2, 2]"},
      {"merge", "b: &b {x: 1, y: 2}\nc: {<<: *b, y: 3}\n", "{b: {x: 1, y: 2}, c: {y: 3, x: 1}}"},
      {"merge of several", "a: {<<: [{x: 1}, {x: 2, y: 2}]}", "{a: {x: 1, y: 2}}"},
      {"a quoted << is a name", "a: {'<<': 1}", "{a: {<<: 1}}"},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "a: 1",
       "{a: 1}"},
      {"windows lines", "a: 1\r\nb: 2\r\n", "{a: 1, b: 2}"},
      {"JSON", R"({"a": [1, -2.5e3, true, null, "x"], "b": {}})",
       "{a: [1, -2.5e3, true, null, \"x\"], b: {}}"},
      {"JSON escapes", R"({"a\n": "\u00e9\ud83d\ude00\/\\"})", "{a\n: \"\u00e9\U0001F600/\\\"}"},
      {"JSON with tabs", "{\n\t\"a\":\t1\n}\n", "{a: 1}"},
      {"YAML that begins like JSON", "{a: 1}\n---\nb: 2\n", "{a: 1} --- {b: 2}"},
      {"JSON documents", "{\"a\":1}\n---\n{\"b\":[{\"c\":\"d\"}]}\n",
       "{a: 1} --- {b: [{c: \"d\"}]}"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Parsed(c.text), c.want);
  }
}

TEST(ParseYaml, RefusesWhatIsMalformedAndSaysWhere) {
  struct Case {
    std::string_view name, text, want;
  };
  const Case cases[] = {
      {"open list", "a: [1, 2",
       "error: f.yaml:1:1: not valid YAML: end of sequence flow not found"},
      {"open list before the last line break", "a: [1,\n2\n",
       "error: f.yaml:2:1: not valid YAML: the text ends before a quoted text, a list or a map "
       "does"},
      {"open quotes", "a: 'x\nb: 2\n",
       "error: f.yaml:2:1: not valid YAML: the text ends before a quoted text, a list or a map "
       "does"},
      {"open quotes in the last line", "a: \"x",
       "error: f.yaml:1:6: not valid YAML: illegal EOF in scalar"},
      {"stray bracket", "a: 1\n---\n]\n", "error: f.yaml:3:1: not valid YAML: illegal flow end"},
      {"stray comma", ", a", "error: f.yaml:1:1: not valid YAML: unexpected here"},
      {"indentation", "a:\n  b: 1\n c: 2\n",
       "error: f.yaml:3:2: not valid YAML: end of map not found"},
      {"unknown alias", "a: *x",
       "error: f.yaml:1:4: not valid YAML: the referenced anchor is not defined"},
      {"alias within itself", "a: &x [*x]",
       "error: f.yaml:1:8: an alias must not stand inside of what it names"},
      {"key twice", "a: 1\nb: 2\na: 3\n",
       "error: f.yaml:3:1: the key \"a\" is here twice, first in line 1"},
      {"key twice in JSON", "{\"a\": 1,\n \"a\": 2}",
       "error: f.yaml:2:2: the key \"a\" is here twice, first in line 1"},
      {"map as a key", "{a: 1}: 2", "error: f.yaml:1:1: a key must be a text, not a list or map"},
      {"no key", ": 2", "error: f.yaml:1:1: a key is missing"},
      {"unknown tag", "a: !thing 1",
       "error: f.yaml:1:4: the tag \"!thing\" is not supported; write the value without it"},
      {"unknown tag of a list", "a: !!set [1]",
       "error: f.yaml:1:4: the tag \"tag:yaml.org,2002:set\" is not supported; write the value "
       "without it"},
      {"merge of a number", "a: {<<: 1}", "error: f.yaml:1:9: << needs a map or a list of maps"},
      {"control character", "a: 1\nb: \x04\n",
       "error: f.yaml:2:4: the control character 0x04 is not allowed"},
      {"broken UTF-8", "a: \xFF", "error: f.yaml: the text is not valid UTF-8"},
      {"broken JSON is explained as YAML", "{\"a\": 1,\n \"b\": }{",
       "error: f.yaml:2:8: not valid YAML: end of map not found"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Parsed(c.text), c.want);
  }
}

TEST(ParseYaml, KnowsThePlaceOfEveryNode) {
  for (const std::string_view text : {"{\n  \"a\": [ 1,\n   \"x\" ]}", "a: [ 1,\n   x ]"}) {
    SCOPED_TRACE(text);
    const auto documents = ParseYaml(text, "f");
    ASSERT_TRUE(documents.ok()) << documents.error().ToString();
    const YamlNode* list = documents->front().Find("a");
    ASSERT_NE(list, nullptr);
    const int first_line = list->line;
    EXPECT_EQ(list->key_line, first_line);
    EXPECT_EQ(list->column - list->key_column, text.front() == '{' ? 5 : 3);
    EXPECT_EQ(list->children[0].line, first_line);
    EXPECT_EQ(list->children[0].column, list->column + 2);
    EXPECT_EQ(list->children[1].line, first_line + 1);
    EXPECT_EQ(list->children[1].column, 4);
  }
}

TEST(ParseYaml, LimitsNesting) {
  const auto nested = [](int depth, std::string_view open, std::string_view close) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  const auto block = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    return text;
  };
  EXPECT_TRUE(ParseYaml(nested(kMaxYamlDepth, "[", "]"), "f").ok());
  EXPECT_TRUE(ParseYaml(nested(kMaxYamlDepth, "[ ", "] "), "f").ok());
  EXPECT_TRUE(ParseYaml(block(kMaxYamlDepth), "f").ok());
  const std::string deep[] = {nested(kMaxYamlDepth + 1, "[", "]"),
                              nested(kMaxYamlDepth + 1, "[x, ", "]"),
                              nested(100'000, "[", "]"),
                              nested(100'000, "[", ""),
                              nested(100'000, "{\"a\":", ""),
                              nested(100'000, "{a: ", "}"),
                              nested(100'000, "- ", ""),
                              block(kMaxYamlDepth + 2),
                              "a: &x " + nested(60, "[", "]") + "\nb: " +
                                  nested(60, "[", "*x").substr(0, 62) + std::string(60, ']')};
  for (const std::string& text : deep) {
    SCOPED_TRACE(text.substr(0, 40));
    EXPECT_FALSE(ParseYaml(text, "f").ok());
  }
  EXPECT_EQ(ParseJson(nested(kMaxYamlDepth + 1, "[", "]"), "f").error().ToString(),
            "f:1:101: nested too deeply: at most 100 levels are allowed");
}

TEST(ParseYaml, LimitsWhatAliasesCopy) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs +=
        fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  const auto refused = ParseYaml(laughs, "f");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("the aliases of this text copy more than"),
            std::string::npos);

  std::string texts = "a: &a " + std::string(100'000, 'x') + "\n";
  for (int i = 0; i < 1000; ++i) texts += fmt::format("b{}: *a\n", i);
  EXPECT_FALSE(ParseYaml(texts, "f").ok());
}

TEST(ParseYaml, SaysThatATextIsNestedTooDeeplyHoweverDeepItIs) {
  constexpr std::size_t kDeep = 20'000;
  std::string blocks;
  for (std::size_t i = 0; i < 600; ++i) blocks += std::string(i, ' ') + "a:\n";
  std::string dashes;
  for (std::size_t i = 0; i < kDeep; ++i) dashes += "- ";
  for (const std::string& text :
       {std::string(kDeep, '['), "{a: " + std::string(kDeep, '['), blocks, dashes}) {
    const auto parsed = ParseYaml(text, "f.yaml");
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.error().message, "nested too deeply: at most 100 levels are allowed");
    EXPECT_GT(parsed.error().place.line, 0);
  }
}

TEST(ParseYaml, RefusesATextThatIsTooLarge) {
  const std::string text(kMaxYamlBytes + 1, ' ');
  EXPECT_EQ(ParseYaml(text, "f").error().ToString(),
            "f: too large: 268435457 bytes, at most 268435456 are allowed");
  EXPECT_FALSE(ParseJson(text, "f").ok());
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  struct Case {
    std::string_view text, want;
  };
  const Case cases[] = {
      {"", "1:1: not valid JSON: expected { or ["},
      {"1", "1:1: not valid JSON: expected { or ["},
      {"{", "1:2: not valid JSON: expected a key in double quotes"},
      {"{a: 1}", "1:2: not valid JSON: expected a key in double quotes"},
      {"{\"a\" 1}", "1:6: not valid JSON: expected : after the key"},
      {"{\"a\":1,}", "1:8: not valid JSON: expected a key in double quotes"},
      {"{\"a\":1\n\"b\":2}", "2:1: not valid JSON: expected , or }"},
      {"[1 2]", "1:4: not valid JSON: expected , or ]"},
      {"[1,]", "1:4: not valid JSON: expected a value"},
      {"[1] x", "1:5: not valid JSON: expected the end of the text"},
      {"[truth]", "1:2: not valid JSON: expected a value"},
      {"[01]", "1:3: not valid JSON: a number must not begin with 0"},
      {"[1.]", "1:4: not valid JSON: expected a digit"},
      {"[1e+]", "1:5: not valid JSON: expected a digit"},
      {"[+1]", "1:2: not valid JSON: expected a value"},
      {"[\"a]", "1:5: not valid JSON: expected \" at the end of a string"},
      {"[\"\t\"]", "1:3: not valid JSON: a control character in a string must be escaped"},
      {"[\"\\x\"]", "1:5: not valid JSON: unknown escape in a string"},
      {"[\"\\u12g4\"]", "1:7: not valid JSON: expected four hexadecimal digits after \\u"},
      {"[\"\\ud800\"]", "1:9: not valid JSON: half of a surrogate pair"},
      {"[\"\\udc00\"]", "1:9: not valid JSON: half of a surrogate pair"},
      {"[\"\\ud800\\u0041\"]", "1:15: not valid JSON: half of a surrogate pair"},
      {"[\"\xFF\"]", "the text is not valid UTF-8"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<YamlNode> tree = ParseJson(c.text, "");
    ASSERT_FALSE(tree.ok());
    const std::string error = tree.error().ToString();
    EXPECT_EQ(error, tree.error().place.line > 0 ? fmt::format("<input>:{}", c.want) : c.want);
  }
}

TEST(YamlNode, TellsTextsFromNumbersAndBooleansAsYaml11Does) {
  struct Case {
    std::string_view text;
    bool number;
    std::optional<bool> boolean;
  };
  const Case cases[] = {
      {"true", false, true},     {"Yes", false, true}, {"on", false, true},   {"y", false, true},
      {"FALSE", false, false},   {"no", false, false}, {"Off", false, false}, {"N", false, false},
      {"tRUE", false, {}},       {"yess", false, {}},  {"'yes'", false, {}},  {"0", true, {}},
      {"-12", true, {}},         {"+12", true, {}},    {"007", true, {}},     {"1_000", true, {}},
      {"0x1F", true, {}},        {"0o17", true, {}},   {"0b01", true, {}},    {"0x", false, {}},
      {"1.5", true, {}},         {".5", true, {}},     {"5.", true, {}},      {".", false, {}},
      {"1e3", true, {}},         {"1E-3", true, {}},   {"1e", false, {}},     {".inf", true, {}},
      {"-.INF", true, {}},       {".nan", true, {}},   {"1.2.3", false, {}},  {"100m", false, {}},
      {"2026-01-31", false, {}}, {"12:30", false, {}}, {"_1", false, {}},     {"\"5\"", false, {}},
      {"[5]", false, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto documents = ParseYaml(fmt::format("a: {}", c.text), "f");
    ASSERT_TRUE(documents.ok());
    const YamlNode* node = documents->front().Find("a");
    EXPECT_EQ(node->IsNumber(), c.number);
    EXPECT_EQ(node->AsBool(), c.boolean);
  }
}

}  // namespace
}  // namespace knx::k8s
