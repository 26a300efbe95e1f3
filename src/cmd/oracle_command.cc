#include "cmd/oracle_command.h"

#include <fmt/format.h>

#include <string>

#include "cmd/exit_code.h"
#include "cmd/text_files.h"
#include "oracle/answer.h"

namespace knx::cmd {
namespace {

std::string AnswerTo(const InputLines::Line& line) {
  if (!line.too_long) return oracle::AnswerLine(line.text);
  return oracle::ErrorLine("", fmt::format("the line is longer than {} bytes", kMaxInputBytes));
}

}  // namespace

Result<int> RunOracle() {
  InputLines lines;
  while (true) {
    KNX_TRY(const auto line, lines.Next());
    if (!line.has_value()) return kExitOk;
    if (line->text.find_first_not_of(" \t\r") == std::string::npos && !line->too_long) continue;
    KNX_TRY_DONE(WriteOut(AnswerTo(*line) + "\n"));
  }
}

}  // namespace knx::cmd
