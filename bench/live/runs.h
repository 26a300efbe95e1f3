// What live-load can be asked to do. Each returns when it is done, with what there is to tell as
// one line of JSON on standard output, or an error.
#pragma once

#include <string>

#include "base/result.h"
#include "objects.h"

namespace knx::bench {

struct LiveLoad {
  std::string kubeconfig;
  LiveShape shape;
  int nodes = 0, present = 0, pods = 0;
  int at_a_time = 100;
  int rate = 0;       // pods a second; in a storm updates
  bool bind = false;  // also bind what arrives
  int timeout_seconds = 600;
};

// Creates the nodes and the pods.
Status Fill(const LiveLoad& load);
// Binds the pods, one event each, without looking at anything: what the server can take. In the
// shape of preemption also ends those that have to go, with all that is written about it.
Status BindAll(const LiveLoad& load);
// Waits until all pods are bound and their events can be read. Says "watching" first.
Status WatchAll(const LiveLoad& load);
// Creates pods at a steady rate and sees how long it takes until each is bound.
Status Arrive(const LiveLoad& load);
// Updates nodes and present pods at a steady rate, while a pod comes every second, and sees how
// long the slowest of these takes until it is bound: since it was sent, and since it was there.
Status Storm(const LiveLoad& load);

}  // namespace knx::bench
