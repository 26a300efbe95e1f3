// What a plugin says about a pod, or about a pod and a node. A "no" is an answer and not an error.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace knx::framework {

enum class Code : std::uint8_t {
  kSuccess,
  kSkip,           // the plugin has nothing to say about this pod
  kUnschedulable,  // not now; removing pods might help
  kUnresolvable,   // not, whatever pods are removed
  kPending,        // waits for something outside; no back-off when it comes
  kWait,           // the cycle pauses until an answer comes from outside
  kError,          // something went wrong that is no property of the pod
};

struct Outcome {
  Code code = Code::kSuccess;
  std::string reason;

  static Outcome Success() { return {}; }
  static Outcome Skip() { return {Code::kSkip, {}}; }
  static Outcome Unschedulable(std::string why) { return {Code::kUnschedulable, std::move(why)}; }
  static Outcome Unresolvable(std::string why) { return {Code::kUnresolvable, std::move(why)}; }
  static Outcome Failed(std::string why) { return {Code::kError, std::move(why)}; }

  [[nodiscard]] bool ok() const { return code == Code::kSuccess || code == Code::kSkip; }
  [[nodiscard]] bool rejected() const {
    return code == Code::kUnschedulable || code == Code::kUnresolvable || code == Code::kPending;
  }
};

}  // namespace knx::framework
