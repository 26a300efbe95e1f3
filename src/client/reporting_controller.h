// Who reports an event, in a form that the API server takes.
#pragma once

#include <string>
#include <string_view>

namespace knx::client {

// kube-scheduler takes any name for a profile, and reports events by it; of a name that is no
// qualified one, such as a label has, each of them is refused. Those it is nearest to are said
// instead, so that people hear of their pods. A good name stays as it is.
std::string ReportingController(std::string_view scheduler_name);

// The one of them on this host; of a length that is taken.
std::string ReportingInstance(std::string_view controller, std::string_view host);

}  // namespace knx::client
