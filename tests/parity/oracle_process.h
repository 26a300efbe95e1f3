// The program that asks kube-scheduler's own code (tools/oracle), kept running: a line in, a line
// out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace knx::parity {

class OracleProcess {
 public:
  static Result<OracleProcess> Start(const std::string& program);
  OracleProcess(OracleProcess&& other) noexcept;
  OracleProcess& operator=(OracleProcess&&) = delete;
  ~OracleProcess();  // ends it

  // Sends a request; its answer is read by Receive. One at a time.
  Status Send(std::string_view line);
  Result<std::string> Receive();

 private:
  OracleProcess(int pid, int input, int output) : pid_(pid), input_(input), output_(output) {}

  int pid_, input_, output_;
  std::string read_;  // beyond the last line that was taken
};

}  // namespace knx::parity
