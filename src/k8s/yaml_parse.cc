// The only file that knows yaml-cpp. Its events are turned into our tree one by one; its exceptions
// end here.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "k8s/yaml_reader.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

using Kind = YamlNode::Kind;

// What a copy of a node will cost, counted no further than `limit`.
std::size_t CopyBytes(const YamlNode& node, std::size_t limit) {
  std::size_t bytes = sizeof(YamlNode) + node.text.size() + node.key.size();
  for (const YamlNode& child : node.children) {
    if (bytes > limit) break;
    bytes += CopyBytes(child, limit - bytes);
  }
  return bytes;
}

int Height(const YamlNode& node) {
  int height = 0;
  for (const YamlNode& child : node.children) height = std::max(height, Height(child));
  return height + 1;
}

// Builds the tree of one document. After the first error it ignores what still comes.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view file, std::size_t& copy_budget)
      : file_(file), copy_budget_(copy_budget) {}

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const YAML::Mark& start() const { return start_; }
  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Complete(NodeAt(mark, Kind::kNull), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = NodeAt(mark, Kind::kScalar);
    // yaml-cpp marks what has no tag with "!" if it was quoted and with "?" if it was not.
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (tag != "?" && !node.quoted && tag != "tag:yaml.org,2002:int" &&
        tag != "tag:yaml.org,2002:float" && tag != "tag:yaml.org,2002:bool") {
      return RefuseTag(mark, tag);
    }
    node.text = value;
    Complete(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    if (!IsDefaultTag(tag) && tag != "tag:yaml.org,2002:seq") RefuseTag(mark, tag);
    Open(NodeAt(mark, Kind::kList), anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    if (!IsDefaultTag(tag) && tag != "tag:yaml.org,2002:map") RefuseTag(mark, tag);
    Open(NodeAt(mark, Kind::kMap), anchor);
  }
  void OnMapEnd() override { Close(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (error_) return;
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      return Fail(mark.line, mark.column, "an alias must not stand inside of what it names");
    }
    if (!Charge(found->second, mark.line, mark.column)) return;
    // An alias at the depth limit of something deep would pass it.
    if (static_cast<int>(open_.size()) + Height(found->second) > kMaxYamlDepth) {
      error_ = TooDeep(file_, mark.line + 1, mark.column + 1);
      return;
    }
    YamlNode copy = found->second;
    copy.line = mark.line + 1;
    copy.column = mark.column + 1;
    Complete(std::move(copy), 0);
  }

 private:
  // A list or map that is not finished yet.
  struct Unfinished {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  // of a map: `key` waits for its value
    bool merges = false;   // of a map: it has a plain key <<
    YamlNode key;
  };

  static bool IsDefaultTag(const std::string& tag) { return tag == "?" || tag == "!"; }

  static YamlNode NodeAt(const YAML::Mark& mark, Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void Fail(int line, int column, std::string message) {
    if (!error_)
      error_ = InvalidError(std::move(message), {std::string(file_), line + 1, column + 1});
  }
  void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    Fail(mark.line, mark.column,
         fmt::format("the tag {} is not supported; write the value without it", Quoted(tag)));
  }

  // Copies are what makes a small text large, so all of them come out of one budget.
  bool Charge(const YamlNode& node, int line, int column) {
    const std::size_t bytes = CopyBytes(node, copy_budget_);
    if (bytes > copy_budget_) {
      Fail(line, column,
           fmt::format("the aliases of this text copy more than {} bytes", kMaxAliasBytes));
      return false;
    }
    copy_budget_ -= bytes;
    return true;
  }

  void Open(YamlNode node, YAML::anchor_t anchor) {
    if (error_) return;
    if (static_cast<int>(open_.size()) >= kMaxYamlDepth) {
      error_ = TooDeep(file_, node.line, node.column);
      return;
    }
    if (!open_.empty() && open_.back().node.kind == Kind::kMap && !open_.back().has_key) {
      return RefuseKey(node);
    }
    open_.push_back({.node = std::move(node), .anchor = anchor, .key = {}});
  }

  void Close() {
    if (error_) return;
    Unfinished done = std::move(open_.back());
    open_.pop_back();
    if (done.node.kind == Kind::kMap) {
      error_ = DuplicateKey(done.node, file_);
      if (done.merges && !error_) Merge(done.node);
      if (error_) return;
    }
    Complete(std::move(done.node), done.anchor);
  }

  void RefuseKey(const YamlNode& node) {
    Fail(node.line - 1, node.column - 1,
         node.kind == Kind::kNull ? "a key is missing" : "a key must be a text, not a list or map");
  }

  // Puts a finished node where it belongs.
  void Complete(YamlNode node, YAML::anchor_t anchor) {
    if (error_) return;
    if (anchor != 0) {
      if (!Charge(node, node.line - 1, node.column - 1)) return;
      anchors_.insert_or_assign(anchor, node);
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Unfinished& parent = open_.back();
    if (parent.node.kind == Kind::kList) {
      parent.node.children.push_back(std::move(node));
    } else if (!parent.has_key) {
      if (node.kind != Kind::kScalar) return RefuseKey(node);
      parent.has_key = true;
      parent.merges = parent.merges || (node.text == "<<" && !node.quoted);
      parent.key = std::move(node);
    } else {
      parent.has_key = false;
      node.key = std::move(parent.key.text);
      node.key_line = parent.key.line;
      node.key_column = parent.key.column;
      parent.node.children.push_back(std::move(node));
    }
  }

  // Replaces the member << by the members of what it holds. What the map says itself goes first,
  // then earlier sources.
  void Merge(YamlNode& map) {
    const auto at = std::find_if(map.children.begin(), map.children.end(),
                                 [](const YamlNode& child) { return child.key == "<<"; });
    YamlNode merge = std::move(*at);
    map.children.erase(at);
    absl::flat_hash_set<std::string> taken;
    for (const YamlNode& child : map.children) taken.insert(child.key);
    std::vector<YamlNode> sources;
    if (merge.kind == Kind::kList) {
      sources = std::move(merge.children);
    } else {
      sources.push_back(std::move(merge));
    }
    for (YamlNode& source : sources) {
      if (source.kind != Kind::kMap) {
        return Fail(source.line - 1, source.column - 1, "<< needs a map or a list of maps");
      }
      for (YamlNode& member : source.children) {
        if (taken.insert(member.key).second) map.children.push_back(std::move(member));
      }
    }
  }

  std::string_view file_;
  std::size_t& copy_budget_;
  std::optional<Error> error_;
  YAML::Mark start_;
  YamlNode root_;
  std::vector<Unfinished> open_;
  absl::flat_hash_map<YAML::anchor_t, YamlNode> anchors_;
};

// yaml-cpp takes some control characters for the end of the text, so they are refused first, as
// YAML demands.
std::optional<Error> CheckCharacters(std::string_view text, std::string_view file) {
  int line = 1;
  int column = 1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') {
      return InvalidError(fmt::format("the control character 0x{:02x} is not allowed", byte),
                          {std::string(file), line, column});
    }
    if (c == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return std::nullopt;
}

// "{" or "[" after blanks: may well be JSON, which has a parser that is much faster.
bool LooksLikeJson(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Error FromException(const YAML::Exception& exception, std::string_view file, int last_line) {
  SourcePlace place{std::string(file), 0, 0};
  std::string_view message = exception.msg;
  if (!exception.mark.is_null()) {
    place.line = exception.mark.line + 1;
    place.column = exception.mark.column + 1;
    if (place.line > last_line) {
      message = "the text ends before a quoted text, a list or a map does";
      place.line = last_line;
    }
  }
  return InvalidError(fmt::format("not valid YAML: {}", message), std::move(place));
}

Result<std::vector<YamlNode>> ParseDocuments(std::string_view text, std::string_view file) {
  // yaml-cpp takes the end of the text for the end of a quoted one if it comes after a line break,
  // but stumbles over a document that ends there.
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  const bool ends_with_line = text.ends_with('\n');
  std::istringstream stream(fmt::format("{}{}", text, ends_with_line ? "...\n" : ""));
  const int last_line = ends_with_line ? lines : lines + 1;

  std::vector<YamlNode> documents;
  std::size_t copy_budget = kMaxAliasBytes;
  int last_start = -1;
  std::optional<TreeBuilder> current;
  try {
    YAML::Parser parser(stream);
    while (true) {
      TreeBuilder& builder = current.emplace(file, copy_budget);
      const bool more = parser.HandleNextDocument(builder);
      if (builder.error()) return *builder.error();
      if (!more) return documents;
      // A stray token, such as a comma outside of a list, is one empty document after the other
      // to yaml-cpp.
      if (builder.start().pos == last_start) {
        return InvalidError(
            "not valid YAML: unexpected here",
            {std::string(file), builder.start().line + 1, builder.start().column + 1});
      }
      last_start = builder.start().pos;
      YamlNode root = builder.TakeRoot();
      if (root.kind != Kind::kNull) documents.push_back(std::move(root));
    }
  } catch (const YAML::DeepRecursion& exception) {
    // Its own limit, which is beyond ours: what was wrong for us first is where it began.
    const SourcePlace first = current && current->error() ? current->error()->place
                                                          : SourcePlace{"", exception.mark.line + 1,
                                                                        exception.mark.column + 1};
    return TooDeep(file, first.line, first.column);
  } catch (const YAML::Exception& exception) {
    return FromException(exception, file, last_line);
  }
}

}  // namespace

Result<std::vector<YamlNode>> ParseYaml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxYamlBytes) return TooLarge(file, text.size());
  if (LooksLikeJson(text)) {
    // What fails as JSON may still be YAML in its flow style; if not, the YAML parser says why.
    if (Result<YamlNode> json = ParseJson(text, file); json.ok()) {
      std::vector<YamlNode> documents;
      documents.push_back(*std::move(json));
      return documents;
    }
  }
  if (!IsUtf8(text)) return NotUtf8(file);
  if (std::optional<Error> error = CheckCharacters(text, file)) return *std::move(error);
  return ParseDocuments(text, file);
}

}  // namespace knx::k8s
