// Amounts and times as people read them: "1.5 cores", "700/1536 GiB", "34m10s".
// For the account on a screen only: what a program reads is written exactly, elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace knx::cmd {

// "0.25", "96". From thousandths, exactly.
std::string FormatCores(std::int64_t thousandths);
// "512 MiB", "1.5 GiB"; one place after the point at most.
std::string FormatBytes(std::int64_t bytes);
// "1.5/2 GiB", both in the unit of the whole.
std::string FormatUsedBytes(std::int64_t used, std::int64_t whole);
// "350ms", "12.5s", "34m10s", "2h05m00s".
std::string FormatElapsed(Duration elapsed);
// What a pod asks for of one resource: "4 cores", "16 GiB", "1 nvidia.com/gpu". A
// quantity that cannot be read is given back as it is.
std::string FormatRequest(std::string_view resource, std::string_view quantity);

}  // namespace knx::cmd
