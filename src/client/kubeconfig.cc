#include "client/kubeconfig.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "base/quoted_text.h"
#include "client/kubeconfig_entries.h"
#include "client/secret_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::client {
namespace {

using k8s::FieldReader;
using k8s::YamlNode;

struct Document {
  std::string file;
  YamlNode root;
};

// An entry of one of the three lists: the map that is named.
struct Entry {
  const Document* document = nullptr;
  const YamlNode* node = nullptr;
  std::string path;  // "clusters[0].cluster"
};
using Entries = std::map<std::string, Entry, std::less<>>;

struct Merged {
  std::vector<Document> documents;
  Entries clusters, users, contexts;
  std::string current_context;
  SourcePlace current_context_place;
};

// "there are "a", "b"", as far as that helps.
std::string NamesOf(const Entries& entries) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries) {
    if (names.size() == kShown) break;
    names.push_back(QuotedText(name));
  }
  if (names.empty()) return "there are none";
  const std::string_view more = entries.size() > kShown ? " and others" : "";
  return fmt::format("there {} {}{}", entries.size() == 1 ? "is" : "are", fmt::join(names, ", "),
                     more);
}

// Parses one file. Nothing if it is empty, which says nothing.
Result<std::vector<YamlNode>> ParseKubeconfig(std::string_view text, const std::string& file) {
  KNX_TRY(std::vector<YamlNode> documents, k8s::ParseYaml(text, file));
  if (documents.size() > 1) {
    return InvalidError("a second document; a kubeconfig is one",
                        {file, documents[1].line, documents[1].column});
  }
  return documents;
}

Result<std::vector<Document>> ReadFiles(const KubeconfigFiles& files, FileReader read_file) {
  std::vector<Document> documents;
  std::vector<std::string> found;
  for (const std::string& path : files.paths) {
    const Result<std::string> text = read_file(path);
    if (!text.ok()) {
      if (text.error().kind == ErrorKind::kNotFound && !files.must_exist) continue;
      return Error(text.error()).Within(files.origin);
    }
    found.push_back(path);
    KNX_TRY(std::vector<YamlNode> parsed, ParseKubeconfig(*text, path));
    for (YamlNode& root : parsed) documents.push_back({path, std::move(root)});
  }
  if (found.empty()) {
    std::vector<std::string> names;
    for (const std::string& path : files.paths) names.push_back(Printable(path));
    return NotFoundError(fmt::format("no kubeconfig found; looked for {} ({})",
                                     fmt::join(names, ", "), files.origin));
  }
  if (documents.empty()) {
    return InvalidError("is empty, so there is no context to choose", {found.front(), 0, 0});
  }
  return documents;
}

// Adds the entries of a list to those of the files before. Two of one file may not share a name.
void AddEntries(FieldReader& fields, std::string_view list, std::string_view inner,
                const Document& document, Entries& out) {
  std::map<std::string, std::size_t, std::less<>> own;
  std::size_t next = 0;
  ForEachMap(fields, list, [&](FieldReader& item) {
    const std::size_t at = next++;
    std::string name;
    ReadText(item, "name", name);
    const auto [first, fresh] = own.emplace(name, at);
    if (!fresh) {
      item.Fail("name", fmt::format("{} is the name of {}[{}] already", QuotedText(name), list,
                                    first->second));
    }
    const YamlNode* node = item.Node(inner);
    out.emplace(name, Entry{&document, node, fmt::format("{}.{}", item.path(), inner)});
  });
}

void AddDocument(FieldReader& fields, const Document& document, Merged& out) {
  if (!IsMap(fields)) return;
  enum class Only { kAllowed };
  Only only;
  fields.ReadEnum("kind", only, {{"Config", Only::kAllowed}});
  fields.ReadEnum("apiVersion", only, {{"v1", Only::kAllowed}});
  AddEntries(fields, "clusters", "cluster", document, out.clusters);
  AddEntries(fields, "users", "user", document, out.users);
  AddEntries(fields, "contexts", "context", document, out.contexts);
  std::string current;
  ReadText(fields, "current-context", current);
  if (!fields.ok() || current.empty() || !out.current_context.empty()) return;
  out.current_context = std::move(current);
  const YamlNode& node = *fields.Node("current-context");
  out.current_context_place = {document.file, node.line, node.column};
}

Status Merge(Merged& out) {
  for (const Document& document : out.documents) {
    KNX_TRY_DONE(k8s::ReadNode(document.root, {.file = document.file},
                               [&](FieldReader& fields) { AddDocument(fields, document, out); }));
  }
  return Ok();
}

Result<const Entry*> ChooseContext(const Merged& merged, std::string_view asked) {
  const std::string_view name = asked.empty() ? merged.current_context : asked;
  const std::string there_are = NamesOf(merged.contexts);
  if (name.empty()) {
    return InvalidError(
        fmt::format("current-context: missing, so no context is chosen; {}", there_are),
        {merged.documents.front().file, 0, 0});
  }
  const auto at = merged.contexts.find(name);
  if (at != merged.contexts.end()) return &at->second;
  if (!asked.empty()) {
    return InvalidError(fmt::format("there is no context {}; {}", QuotedText(name), there_are));
  }
  return InvalidError(
      fmt::format("current-context: there is no context {}; {}", QuotedText(name), there_are),
      merged.current_context_place);
}

Status ReadEntry(const Entry& entry, FieldReader::Visit visit) {
  const YamlNode nothing;
  const YamlNode& node = entry.node != nullptr ? *entry.node : nothing;
  return k8s::ReadNode(node, {.file = entry.document->file, .path = entry.path},
                       [&](FieldReader& fields) {
                         if (IsMap(fields)) visit(fields);
                       });
}

// The entry that a context names in one of its fields.
const Entry* FindNamed(FieldReader& context, std::string_view key, const Entries& entries) {
  std::string name;
  if (!ReadText(context, key, name) || name.empty()) return nullptr;
  const auto at = entries.find(name);
  if (at != entries.end()) return &at->second;
  context.Fail(key, fmt::format("there is no {} {}; {}", key, QuotedText(name), NamesOf(entries)));
  return nullptr;
}

EntryReading ReadingOf(const Entry& entry, FileReader read_file) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::absolute(entry.document->file, ignored);
  return {entry.document->file, file.parent_path().string(), read_file};
}

}  // namespace

KubeconfigFiles FindKubeconfigs(const std::vector<std::string>& flag, std::string_view variable,
                                std::string_view home) {
  if (!flag.empty()) return {flag, true, "--kubeconfig"};
  if (variable.empty()) return {{fmt::format("{}/.kube/config", home)}, false, "the default"};
  KubeconfigFiles files{{}, false, "KUBECONFIG"};
  while (!variable.empty()) {
    const std::size_t colon = std::min(variable.find(':'), variable.size());
    const std::string_view path = variable.substr(0, colon);
    const bool fresh = std::find(files.paths.begin(), files.paths.end(), path) == files.paths.end();
    if (!path.empty() && fresh) files.paths.emplace_back(path);
    variable.remove_prefix(std::min(colon + 1, variable.size()));
  }
  return files;
}

Result<ApiAccess> ReadKubeconfigs(const KubeconfigFiles& files, std::string_view context,
                                  FileReader read_file) {
  Merged merged;
  KNX_TRY(merged.documents, ReadFiles(files, read_file));
  KNX_TRY_DONE(Merge(merged));
  KNX_TRY(const Entry* chosen, ChooseContext(merged, context));
  ApiAccess access;
  const Entry* cluster = nullptr;
  const Entry* user = nullptr;
  KNX_TRY_DONE(ReadEntry(*chosen, [&](FieldReader& fields) {
    ReadText(fields, "namespace", access.default_namespace);
    cluster = FindNamed(fields, "cluster", merged.clusters);
    user = FindNamed(fields, "user", merged.users);
    if (cluster == nullptr) fields.Fail("cluster", "missing, but required");
  }));
  std::string plugin_config = "null";
  KNX_TRY_DONE(ReadEntry(*cluster, [&](FieldReader& fields) {
    ReadCluster(fields, ReadingOf(*cluster, read_file), access, plugin_config);
  }));
  if (user == nullptr || user->node == nullptr) return access;
  KNX_TRY_DONE(ReadEntry(*user, [&](FieldReader& fields) {
    ReadUser(fields, ReadingOf(*user, read_file), std::move(plugin_config), access);
  }));
  return access;
}

}  // namespace knx::client
