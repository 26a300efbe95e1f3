// A door for tests only: somebody between the scheduler and the cluster who breaks things, to show
// that the invariants notice. Nothing outside of tests implements it.
#pragma once

#include <vector>

#include "engine/actions.h"
#include "engine/engine.h"
#include "engine/events.h"

namespace knx::sim {

class Saboteur {
 public:
  virtual ~Saboteur() = default;
  // May change what the scheduler wants done, before anybody has seen it.
  virtual void OnActions(std::vector<engine::Action>& /*actions*/) {}
  // May change what the scheduler is told. False: it is not told, although everybody believes that
  // it was.
  virtual bool OnEvent(engine::Event& /*event*/) { return true; }
  // False: the scheduler is not asked to decide, although it is believed to have been.
  virtual bool OnSchedule() { return true; }
  // May do anything to the scheduler after a step.
  virtual void AfterStep(engine::Engine& /*engine*/) {}
};

}  // namespace knx::sim
