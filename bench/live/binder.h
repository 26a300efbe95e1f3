// Sends for a pod what a scheduler would send, without deciding anything: what a server can take.
#pragma once

#include "client/api_client.h"
#include "client/event_recorder.h"
#include "client/pod_writer.h"
#include "flood.h"
#include "objects.h"

namespace knx::bench {

class Binder {
 public:
  Binder(client::ApiClient& api, LiveShape shape, int nodes)
      : api_(api), pods_(api), events_(api), shape_(shape), nodes_(nodes) {}

  // The binding and when it is done an event. With preemption, before that: that the pod fits
  // nowhere, and the end of each of its victims.
  void BindOne(int i, Flood::Answered answered);

 private:
  void Preempt(int i, Flood::Answered answered);
  void EvictOne(int victim, Flood::Answered answered);
  void Bind(int i, Flood::Answered answered);
  void Patch(std::string path, std::string body, Flood::Answered answered);
  void Record(client::PodName pod, std::string_view reason, std::string_view action,
              std::string note, Flood::Answered answered);

  client::ApiClient& api_;
  client::PodWriter pods_;
  client::EventRecorder events_;
  LiveShape shape_;
  int nodes_;
};

}  // namespace knx::bench
