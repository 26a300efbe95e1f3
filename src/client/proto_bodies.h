// What a scheduler writes more of than of anything else, in protobuf, which costs an API server
// less to read and to answer than JSON.
#pragma once

#include <string>
#include <string_view>

#include "client/event_recorder.h"
#include "client/pod_writer.h"

namespace knx::client {

// Of v1. One for another pod by that name is refused by the server.
std::string BindingBody(const PodName& pod, std::string_view node);
// Of events.k8s.io/v1.
std::string EventBody(const PodEvent& event, std::string_view name);

}  // namespace knx::client
