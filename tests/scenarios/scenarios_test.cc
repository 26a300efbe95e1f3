// Runs every scenario below tests/scenarios, with one thread and with four: expectations must be
// met, no invariant may break, and both must have decided alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/simulation.h"

namespace knx::sim {
namespace {

namespace fs = std::filesystem;

fs::path Root() { return fs::path(KNX_SOURCE_DIR) / "tests" / "scenarios"; }

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> AllScenarios() {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(Root())) {
    if (entry.path().extension() == ".yaml") out.push_back(fs::relative(entry.path(), Root()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<SimulationResult> RunWith(const std::string& name, int threads) {
  const fs::path path = Root() / name;
  SimulationRequest request;
  request.files = {{name, ReadText(path)}};
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

class ScenarioTest : public testing::TestWithParam<std::string> {};

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
    GTEST_FAIL() << "the decision log ends with\n" << Tail(one->log);
  }
  const auto four = RunWith(GetParam(), 4);
  ASSERT_TRUE(four.ok()) << four.error().ToString();
  EXPECT_EQ(FormatHash(one->hash), FormatHash(four->hash));
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.rfind('.'));
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioTest, testing::ValuesIn(AllScenarios()), TestName);

}  // namespace
}  // namespace knx::sim
