#include "client/resource_version.h"

#include <algorithm>

namespace knx::client {
namespace {

bool IsNumber(std::string_view version) {
  const bool digits =
      std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !version.empty() && version.front() != '0';
}

}  // namespace

bool IsLaterVersion(std::string_view version, std::string_view than) {
  if (!IsNumber(version) || (!than.empty() && !IsNumber(than))) return false;
  // Of any length: nobody promises that they fit into 64 bits.
  return version.size() != than.size() ? version.size() > than.size() : version > than;
}

}  // namespace knx::client
