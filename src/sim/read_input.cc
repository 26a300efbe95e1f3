#include "sim/read_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace knx::sim {
namespace {

bool IsNodeOrMakesPods(const k8s::ObjectAt& read) {
  const k8s::Object& object = read.object;
  return std::holds_alternative<k8s::Node>(object) || std::holds_alternative<k8s::Pod>(object) ||
         std::holds_alternative<k8s::Workload>(object) || std::holds_alternative<k8s::Job>(object);
}

// One for every kind, with the place of the first.
std::vector<std::string> WarningsAbout(const std::vector<k8s::SkippedObject>& skipped) {
  struct Kind {
    const k8s::SkippedObject* first;
    std::size_t count;
  };
  std::vector<Kind> kinds;
  for (const k8s::SkippedObject& object : skipped) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return kind.first->kind == object.kind && kind.first->api_version == object.api_version;
    });
    if (same == kinds.end()) {
      kinds.push_back({&object, 1});
    } else {
      ++same->count;
    }
  }
  std::vector<std::string> out;
  for (const auto& [first, count] : kinds) {
    out.push_back(fmt::format(
        "{}:{}: {} ({}) is not simulated, so {}", first->place.file, first->place.line, first->kind,
        first->api_version,
        count == 1 ? "it is left out" : fmt::format("all {} of them are left out", count)));
  }
  return out;
}

}  // namespace

Result<Input> ReadInput(const std::vector<TextFile>& files, std::size_t variant) {
  Input input;
  std::vector<k8s::SkippedObject> skipped;
  for (const TextFile& file : files) {
    KNX_TRY(std::vector<k8s::YamlNode> documents, k8s::ParseYaml(file.text, file.name));
    if (std::none_of(documents.begin(), documents.end(), scenario::IsScenario)) {
      KNX_TRY(std::vector<k8s::ObjectAt> objects,
              k8s::ReadManifests(documents, file.name, {.skipped = &skipped}));
      std::move(objects.begin(), objects.end(), std::back_inserter(input.objects));
      continue;
    }
    if (files.size() > 1 || documents.size() > 1) {
      return InvalidError("a scenario stands alone: no other file or document beside it",
                          {file.name, documents.front().line, documents.front().column});
    }
    KNX_TRY(input.scenario,
            scenario::ReadScenario(std::move(documents.front()), file.name, variant));
  }
  if (variant > 0 && !input.scenario) return InvalidError("manifests have no variants");
  input.warnings = WarningsAbout(skipped);
  return input;
}

Status CheckNotEmpty(const std::vector<k8s::ObjectAt>& objects,
                     const std::vector<TextFile>& files) {
  if (std::any_of(objects.begin(), objects.end(), IsNodeOrMakesPods)) return Ok();
  std::vector<std::string_view> names;
  for (const TextFile& file : files) names.push_back(file.name);
  return InvalidError(fmt::format("{}: neither a node nor anything that makes pods is in it",
                                  fmt::join(names, ", ")));
}

}  // namespace knx::sim
