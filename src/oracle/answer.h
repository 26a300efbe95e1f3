// What our plugins say about the pods of a request: the same facts, in the same form, as the
// program in tools/oracle gives of kube-scheduler's own (docs/oracle.md).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "oracle/request.h"

namespace knx::oracle {

// One line of JSON.
Result<std::string> Answer(const Request& request);

// The same for a line, errors included: {"id":…, "error":…}.
std::string AnswerLine(std::string_view line);
// That error, for a line of which nothing can be read.
std::string ErrorLine(std::string_view id, std::string_view error);

}  // namespace knx::oracle
