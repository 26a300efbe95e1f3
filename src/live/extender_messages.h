// What kube-scheduler and its extenders say to each other, in JSON: the names of fields as
// kube-scheduler writes them, read in any case, as it does.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/actions.h"
#include "engine/events.h"

namespace knx::live {

// The pods and nodes are JSON already.
struct NodesMessage {
  std::string_view pod;
  bool names_only = false;
  std::vector<std::string> names;               // with names_only
  std::vector<const std::string*> documents{};  // without
};
// For filter and prioritize.
std::string WriteNodes(const NodesMessage& message);

// For preempt. `documents`: the victims by their uid; none: only their uids are written.
std::string WriteVictims(std::string_view pod, const std::vector<engine::AskExtender::Victims>& on,
                         const std::map<std::string, std::string>* documents);

std::string WriteBinding(const engine::BindByExtender& bind);

// The answers. An error of the extender itself is an error here, in its own words, and so are its
// reasons for nodes: as much of them as a person can read, since they go into conditions, events
// and the log.
inline constexpr std::size_t kLongestReason = 500, kLongestError = 1000;
// Of all reasons in one answer that differ. Where they are more, the rest are this one.
inline constexpr std::size_t kMostReasons = std::size_t{32} << 10;
inline constexpr std::string_view kOtherReason = "another reason of the extender";
// `names_only`: nodes that it names count, otherwise only those that it sends back.
Result<engine::ExtenderAnswer> ReadFilterAnswer(std::string_view body, bool names_only);
Result<engine::ExtenderAnswer> ReadScores(std::string_view body);
Result<engine::ExtenderAnswer> ReadVictims(std::string_view body);
Status ReadBindingAnswer(std::string_view body);

}  // namespace knx::live
