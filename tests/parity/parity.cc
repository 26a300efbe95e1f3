// parity: random clusters, both schedulers asked, every field compared. Ends with 1 at the first
// difference, printed as small as it gets.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>

#include "both_sides.h"

namespace knx::parity {
namespace {

struct Options {
  std::string oracle;
  std::uint64_t cases = 2000;
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint64_t differences = 1;  // after so many it ends
};

// Below this share of the pods a plugin is not really tested.
constexpr double kLeastPercent = 1.0;

bool ParseNumber(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

Result<Options> ReadOptions(int argc, char** argv) {
  Options options;
  if (argc < 2) return InvalidError("usage: parity ORACLE [CASES [SEED [FIRST [DIFFERENCES]]]]");
  options.oracle = argv[1];
  std::uint64_t* numbers[] = {&options.cases, &options.seed, &options.first, &options.differences};
  for (int i = 2; i < argc && i < 6; ++i) {
    if (!ParseNumber(argv[i], *numbers[i - 2])) {
      return InvalidError(fmt::format("{} is not a number", argv[i]));
    }
  }
  return options;
}

double Percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void PrintShares(const char* heading, const std::map<std::string, std::uint64_t>& counts,
                 std::uint64_t whole) {
  fmt::print("{}\n", heading);
  for (const auto& [name, count] : counts)
    fmt::print("  {:<40}{:6.1f} %\n", name, Percent(count, whole));
}

// Every plugin of the default set that can reject, and that scores.
bool SharesSuffice(const Shares& shares) {
  bool enough = true;
  const auto demand = [&](const char* what, const std::map<std::string, std::uint64_t>& counts,
                          std::initializer_list<const char*> plugins) {
    for (const char* plugin : plugins) {
      const auto found = counts.find(plugin);
      const double percent = found == counts.end() ? 0 : Percent(found->second, shares.pods);
      if (percent >= kLeastPercent) continue;
      fmt::print("{} {} for {:.2f} % of the pods only: the generator does not test it\n", plugin,
                 what, percent);
      enough = false;
    }
  };
  demand("rejects", shares.rejects,
         {"NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
          "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
          "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"});
  demand("tells nodes apart", shares.scores,
         {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread",
          "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality"});
  if (Percent(shares.preempts, shares.pods) < kLeastPercent) {
    fmt::print("room could be made for {:.2f} % of the pods only\n",
               Percent(shares.preempts, shares.pods));
    enough = false;
  }
  return enough;
}

Status Report(BothSides& sides, const Case& found, const Difference& first_seen) {
  fmt::print("\nDifferent in {}:\n  pod {}\n  {}\n", found.name, first_seen.pod, first_seen.what);
  KNX_TRY(const Case small, Shrink(found, sides));
  KNX_TRY(const auto difference, sides.Ask(small));
  if (!difference) {
    fmt::print("  asked again, both say the same: one of them answers by chance\n");
    return Done{};
  }
  fmt::print("With {} objects left:\n  pod {}\n  {}\n\n{}\n", small.objects.size(), difference->pod,
             difference->what, ScenarioText(small, *difference));
  return Done{};
}

Result<int> Run(const Options& options) {
  KNX_TRY(auto oracle, OracleProcess::Start(options.oracle));
  BothSides sides(std::move(oracle));
  std::map<std::string, std::uint64_t> features;
  std::uint64_t differences = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = options.first; i < options.first + options.cases; ++i) {
    const Case made = MakeCase(options.seed, i);
    for (const std::string& feature : made.features) ++features[feature];
    KNX_TRY(const auto difference, sides.Ask(made));
    if (difference) {
      KNX_TRY_DONE(Report(sides, made, *difference));
      if (++differences == options.differences) return 1;
    }
    if ((i + 1) % 1000 == 0) {
      fmt::print(stderr, "{} of {} cases\n", i + 1 - options.first, options.cases);
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  PrintShares("Features of the cases", features, options.cases);
  PrintShares("Pods of which a plugin rejected a node", sides.shares().rejects,
              sides.shares().pods);
  PrintShares("Pods whose nodes a plugin told apart", sides.shares().scores, sides.shares().pods);
  fmt::print("Pods for which room could be made {:22.1f} %\n",
             Percent(sides.shares().preempts, sides.shares().pods));
  fmt::print("{} cases, {} pods, {} differences, {:.0f} s (seed {})\n", options.cases,
             sides.shares().pods, differences, took.count(), options.seed);
  return differences == 0 && SharesSuffice(sides.shares()) ? 0 : 1;
}

}  // namespace
}  // namespace knx::parity

int main(int argc, char** argv) {
  const auto options = knx::parity::ReadOptions(argc, argv);
  const auto code = options.ok() ? knx::parity::Run(*options) : knx::Result<int>(options.error());
  if (code.ok()) return *code;
  fmt::print(stderr, "parity: {}\n", code.error().ToString());
  return 2;
}
