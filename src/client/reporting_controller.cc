#include "client/reporting_controller.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/shortened.h"
#include "k8s/selector.h"

namespace knx::client {
namespace {

constexpr std::size_t kLongestInstance = 128;
constexpr std::string_view kNobody = "scheduler";  // of whose name nothing is left

bool IsQualified(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::string_view word = slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (!k8s::IsLabelText(word) || word.size() > k8s::kLabelLengthMax) return false;
  if (slash == std::string_view::npos) return true;
  return k8s::IsDnsText(name.substr(0, slash)) && slash <= k8s::kPrefixLengthMax;
}

bool IsLetterOrDigit(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

}  // namespace

std::string ReportingController(std::string_view scheduler_name) {
  if (IsQualified(scheduler_name)) return std::string(scheduler_name);
  std::string name(scheduler_name);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !IsLetterOrDigit(c) && c != '-' && c != '_' && c != '.'; }, '-');
  name.erase(name.begin(), std::find_if(name.begin(), name.end(), IsLetterOrDigit));
  name.resize(std::min(name.size(), k8s::kLabelLengthMax));
  while (!name.empty() && !IsLetterOrDigit(name.back())) name.pop_back();
  return name.empty() ? std::string(kNobody) : name;
}

std::string ReportingInstance(std::string_view controller, std::string_view host) {
  return Shortened(fmt::format("{}-{}", controller, host), kLongestInstance, "");
}

}  // namespace knx::client
