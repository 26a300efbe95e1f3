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

Error NothingIn(const std::vector<TextFile>& files) {
  std::vector<std::string_view> names;
  for (const TextFile& file : files) names.push_back(file.name);
  return InvalidError(fmt::format("{}: neither a node nor anything that makes pods is in it",
                                  fmt::join(names, ", ")));
}

}  // namespace

Result<Input> ReadInput(const std::vector<TextFile>& files) {
  Input input;
  for (const TextFile& file : files) {
    KNX_TRY(std::vector<k8s::YamlNode> documents, k8s::ParseYaml(file.text, file.name));
    if (std::none_of(documents.begin(), documents.end(), scenario::IsScenario)) {
      KNX_TRY(std::vector<k8s::ObjectAt> objects, k8s::ReadManifests(documents, file.name));
      std::move(objects.begin(), objects.end(), std::back_inserter(input.objects));
      continue;
    }
    if (files.size() > 1 || documents.size() > 1) {
      return InvalidError("a scenario stands alone: no other file or document beside it",
                          {file.name, documents.front().line, documents.front().column});
    }
    KNX_TRY(input.scenario, scenario::ReadScenario(std::move(documents.front()), file.name));
  }
  if (!input.scenario.has_value() &&
      std::none_of(input.objects.begin(), input.objects.end(), IsNodeOrMakesPods)) {
    return NothingIn(files);
  }
  return input;
}

}  // namespace knx::sim
