// Is there room on a node for what one class of pods asks for?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "framework/plugin.h"

namespace knx::plugins {

class FitFilter final : public framework::NodeFilter {
 public:
  struct Request {
    cluster::ResourceId id;
    std::int64_t amount = 0;
    std::string name;
  };

  // `requests` in the order in which reasons are given, all above zero. Room for one more pod is
  // always asked for.
  FitFilter(const cluster::NodeTable& nodes, std::vector<Request> requests);

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override;
  void Explain(const framework::Verdict& verdict, std::vector<std::string>& reasons) const override;
  [[nodiscard]] framework::ClassLimits limits() const override { return {.takes = takes_}; }

 private:
  // The detail of a verdict is a set of bits: 0 for the number of pods, i+1 for requests_[i].
  // Requests beyond the last bit share it; nobody asks for that many resources.
  static constexpr std::uint64_t kPodsBit = 1;
  static constexpr std::size_t kLastBit = 63;
  static std::uint64_t BitOf(std::size_t request) {
    return std::uint64_t{1} << (request < kLastBit ? request + 1 : kLastBit);
  }

  const cluster::NodeTable& nodes_;
  std::vector<Request> requests_;
  cluster::ResourceVector takes_;  // the same, with the pod itself
};

}  // namespace knx::plugins
