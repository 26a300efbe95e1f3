// A question to the oracle: a cluster, and pods that have no place in it. One line of JSON; the
// same line is understood by the program in tools/oracle that asks kube-scheduler's own code
// (docs/oracle.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/objects.h"

namespace knx::oracle {

struct Request {
  std::string id;
  std::string config;                           // a KubeSchedulerConfiguration; empty: the defaults
  std::string scheduler = "default-scheduler";  // the profile that is asked
  // Every one has a uid and is there once; no two pods share a uid.
  std::vector<k8s::Object> objects;
  std::vector<std::string> pods;  // "namespace/name"
  bool preempt = false;
};

// Fills `request` as far as it can be read: the id of one that is wrong is there too.
Status ReadRequest(std::string_view line, Request& request);

}  // namespace knx::oracle
