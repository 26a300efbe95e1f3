// Looks over the shoulder of another scheduler: before the engine is told what that one decided
// about a pod, it is asked what we would have decided. Writes nothing but a report.
#pragma once

#include <map>
#include <string>

#include "engine/engine.h"
#include "k8s/objects.h"
#include "observe/shadow_report.h"

namespace knx::live {

class Shadow {
 public:
  // The report outlives us: it goes on when another configuration begins.
  explicit Shadow(observe::ShadowReport& report) : report_(report) {}

  // What the API server now says about a pod, before `engine` hears it.
  void LookAt(engine::Engine& engine, const k8s::Pod& pod);
  void Forget(const std::string& uid) { refused_.erase(uid); }

 private:
  observe::ShadowReport& report_;
  std::map<std::string, std::string> refused_;  // what was last said of pods that wait, by uid
};

}  // namespace knx::live
