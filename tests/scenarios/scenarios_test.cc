// Runs every variant of every scenario below tests/scenarios, with one thread and with four:
// expectations must be met, no invariant may break, and both must have decided alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "scenario/variants.h"
#include "sim/simulation.h"

namespace knx::sim {
namespace {

namespace fs = std::filesystem;

fs::path Root() { return fs::path(KNX_SOURCE_DIR) / "tests" / "scenarios"; }

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Play {
  std::string file;
  std::size_t variant = 0, variants = 1;
  friend void PrintTo(const Play& play, std::ostream* out) {
    *out << play.file << " --variant " << play.variant + 1;
  }
};

// Counted without reading the whole scenario: most have one.
std::size_t CountVariants(const fs::path& path) {
  const std::string text = ReadText(path);
  if (text.find("\nvariants:") == std::string::npos) return 1;
  const auto documents = k8s::ParseYaml(text, path.string());
  if (!documents.ok()) return 1;
  const auto variants = scenario::VariantsOf(documents->front(), path.string());
  return variants.ok() ? variants->size() : 1;
}

std::vector<Play> AllPlays() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(Root())) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Play> out;
  for (const fs::path& file : files) {
    const std::size_t variants = CountVariants(file);
    for (std::size_t i = 0; i < variants; ++i) {
      out.push_back({fs::relative(file, Root()), i, variants});
    }
  }
  return out;
}

Result<SimulationResult> RunWith(const Play& play, int threads) {
  const fs::path path = Root() / play.file;
  SimulationRequest request;
  request.files = {{play.file, ReadText(path)}};
  request.variant = play.variant;
  request.threads = threads;
  request.read_file = [&path](std::string_view file) -> Result<std::string> {
    return ReadText(path.parent_path() / file);
  };
  return Simulate(request);
}

// The end of the decision log, which is where to look first.
std::string Tail(const std::vector<std::string>& log) {
  constexpr std::size_t kLines = 30;
  std::string out;
  for (std::size_t i = log.size() > kLines ? log.size() - kLines : 0; i < log.size(); ++i) {
    out += log[i] + "\n";
  }
  return out;
}

class ScenarioTest : public testing::TestWithParam<Play> {};

TEST_P(ScenarioTest, HoldsWithAnyNumberOfThreads) {
  const auto one = RunWith(GetParam(), 1);
  ASSERT_TRUE(one.ok()) << one.error().ToString();
  for (const ExpectationResult& expectation : one->expectations) {
    EXPECT_TRUE(expectation.met) << expectation.place.file << ":" << expectation.place.line
                                 << ": expected " << expectation.expected << "\n  found "
                                 << expectation.found;
  }
  if (one->violation.has_value()) {
    ADD_FAILURE() << "invariant " << one->violation->invariant << " is violated after "
                  << FormatDuration(one->violation->at) << ": " << one->violation->what;
  }
  if (HasFailure()) {
    GTEST_FAIL() << one->variant << "\nthe decision log ends with\n" << Tail(one->log);
  }
  const auto four = RunWith(GetParam(), 4);
  ASSERT_TRUE(four.ok()) << four.error().ToString();
  EXPECT_EQ(FormatHash(one->hash), FormatHash(four->hash));
}

std::string TestName(const testing::TestParamInfo<Play>& info) {
  std::string name = info.param.file.substr(0, info.param.file.rfind('.'));
  if (info.param.variants > 1) name += "_" + std::to_string(info.param.variant + 1);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioTest, testing::ValuesIn(AllPlays()), TestName);

}  // namespace
}  // namespace knx::sim
