#include "cluster/host_ports.h"

#include <algorithm>

#include "base/check.h"

namespace knx::cluster {
namespace {

void Collect(const k8s::Container& container, std::vector<HostPort>& out) {
  for (const k8s::ContainerPort& port : container.ports) {
    if (port.host_port <= 0) continue;
    out.push_back({port.host_ip.empty() ? std::string(kAnyAddress) : port.host_ip,
                   port.protocol.empty() ? "TCP" : port.protocol, port.host_port});
  }
}

}  // namespace

std::vector<HostPort> HostPortsOf(const k8s::PodSpec& spec) {
  std::vector<HostPort> out;
  for (const k8s::Container& container : spec.containers) Collect(container, out);
  for (const k8s::Container& container : spec.init_containers) {
    if (container.restart_always) Collect(container, out);
  }
  // One pod that names a port twice uses it once.
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool Conflicts(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol) return false;
  return a.ip == kAnyAddress || b.ip == kAnyAddress || a.ip == b.ip;
}

void UsedPorts::Add(std::span<const HostPort> ports) {
  for (const HostPort& port : ports) {
    const auto at =
        std::lower_bound(used_.begin(), used_.end(), port,
                         [](const Use& use, const HostPort& p) { return use.port < p; });
    if (at != used_.end() && at->port == port) {
      ++at->pods;
    } else {
      used_.insert(at, {port, 1});
    }
  }
}

void UsedPorts::Remove(std::span<const HostPort> ports) {
  for (const HostPort& port : ports) {
    const auto at =
        std::lower_bound(used_.begin(), used_.end(), port,
                         [](const Use& use, const HostPort& p) { return use.port < p; });
    KNX_CHECK(at != used_.end() && at->port == port, "a port is freed that nobody used");
    if (--at->pods == 0) used_.erase(at);
  }
}

bool UsedPorts::ConflictsWith(std::span<const HostPort> wanted) const {
  for (const HostPort& port : wanted) {
    for (const Use& use : used_) {
      if (Conflicts(use.port, port)) return true;
    }
  }
  return false;
}

}  // namespace knx::cluster
