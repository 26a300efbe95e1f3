#include "cmd/oracle_command.h"

#include <cstdio>
#include <iostream>
#include <string>

#include "cmd/exit_code.h"
#include "cmd/text_files.h"
#include "oracle/answer.h"

namespace knx::cmd {

Result<int> RunOracle() {
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty()) continue;
    KNX_TRY_DONE(WriteOut(oracle::AnswerLine(line) + "\n"));
  }
  return kExitOk;
}

}  // namespace knx::cmd
