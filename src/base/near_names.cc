#include "base/near_names.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

namespace knx {
namespace {

std::string InSmallLetters(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// How many letters must be changed, added or left out to make one word of the other.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string_view> NamesNear(std::string_view name,
                                        std::span<const std::string_view> names) {
  constexpr std::size_t kMaxLength = 64;  // nobody misspells that much; bounds the work as well
  constexpr std::size_t kMaxNames = 3;
  if (name.size() > kMaxLength) return {};
  const std::string wanted = InSmallLetters(name);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view known : names) {
    const std::string candidate = InSmallLetters(known);
    const std::size_t distance = Distance(wanted, candidate);
    const bool part_of = wanted.size() >= 4 && (candidate.find(wanted) != std::string::npos ||
                                                wanted.find(candidate) != std::string::npos);
    if (part_of || distance <= std::max<std::size_t>(2, wanted.size() / 4)) {
      near.emplace_back(distance, known);
    }
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> found;
  for (const auto& [distance, known] : near) {
    if (found.size() < kMaxNames) found.push_back(known);
  }
  return found;
}

}  // namespace knx
