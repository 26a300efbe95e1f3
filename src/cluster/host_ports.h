// Ports of a node's own addresses that its pods use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "k8s/objects.h"

namespace knx::cluster {

inline constexpr std::string_view kAnyAddress = "0.0.0.0";

struct HostPort {
  std::string ip;  // kAnyAddress: every address of the node
  std::string protocol;
  std::int32_t port = 0;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// The host ports of a pod: ordinary containers and sidecars, with kube-scheduler's defaults filled
// in.
std::vector<HostPort> HostPortsOf(const k8s::PodSpec& spec);

// Two uses of one port conflict if one of them is on every address or both are on the same one.
bool Conflicts(const HostPort& a, const HostPort& b);

// What is in use on one node. Counted, so that taking back one of two equal uses leaves the other.
class UsedPorts {
 public:
  void Add(std::span<const HostPort> ports);
  void Remove(std::span<const HostPort> ports);
  [[nodiscard]] bool ConflictsWith(std::span<const HostPort> wanted) const;
  [[nodiscard]] bool empty() const { return used_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return used_.capacity() * sizeof(Use); }
  friend bool operator==(const UsedPorts&, const UsedPorts&) = default;

 private:
  struct Use {
    HostPort port;
    std::uint32_t pods = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };
  std::vector<Use> used_;  // sorted by port
};

}  // namespace knx::cluster
