#include "both_sides.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer.h"

namespace knx::parity {

Result<std::optional<Difference>> BothSides::Ask(const Case& asked) {
  const std::string line = asked.RequestLine();
  KNX_TRY_DONE(oracle_.Send(line));
  const std::string ours = oracle::AnswerLine(line);
  KNX_TRY(const std::string theirs, oracle_.Receive());
  return Compare(theirs, ours, shares_);
}

namespace {

// Without objects [begin, end); the pods that are asked about stay.
Case Without(const Case& from, std::size_t begin, std::size_t end) {
  Case less = from;
  less.objects.clear();
  for (std::size_t i = 0; i < from.objects.size(); ++i) {
    const bool asked = from.objects[i].find("\"name\":\"asked-") != std::string::npos;
    if (i < begin || i >= end || asked) less.objects.push_back(from.objects[i]);
  }
  return less;
}

}  // namespace

Result<Case> Shrink(Case different, BothSides& sides) {
  KNX_TRY(auto difference, sides.Ask(different));
  if (difference && !difference->pod.empty()) {
    Case one = different;
    one.pods = {difference->pod};
    KNX_TRY(const auto still, sides.Ask(one));
    if (still) different = one;
  }
  for (std::size_t step = different.objects.size() / 2; step > 0; step /= 2) {
    for (std::size_t at = 0; at < different.objects.size();) {
      Case less = Without(different, at, at + step);
      if (less.objects.size() == different.objects.size()) {
        at += step;
        continue;
      }
      KNX_TRY(const auto still, sides.Ask(less));
      if (still) {
        different = std::move(less);
      } else {
        at += step;
      }
    }
  }
  return different;
}

std::string ScenarioText(const Case& asked, const Difference& difference) {
  std::string text = fmt::format(
      "scenario: {} is decided as kube-scheduler decides\nwhy: >-\n  found by make parity, {}; "
      "{}\n",
      difference.pod, asked.name, difference.what);
  if (!asked.config.empty()) {
    text += "config: |\n";
    std::size_t begin = 0;
    while (begin < asked.config.size()) {
      const std::size_t end = std::min(asked.config.find('\n', begin), asked.config.size());
      text += "  " + asked.config.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
  }
  text += "cluster:\n  objects:\n";
  // JSON is YAML, so that each object is one line.
  for (const std::string& object : asked.objects) text += "    - " + object + "\n";
  return text + "steps:\n  - run_for: 1s\n";
}

}  // namespace knx::parity
