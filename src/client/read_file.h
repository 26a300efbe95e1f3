// The small files that hold configuration and credentials. Errors name the file and the reason,
// never what is in it.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <string>

#include "base/result.h"

namespace knx::client {

// More than a bundle of every authority of the world, or a kubeconfig of a thousand clusters. A
// wrong name (/dev/zero) would fill the memory.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

// How a reader gets at the files that are named in what it reads.
using FileReader = absl::FunctionRef<Result<std::string>(const std::string& path)>;

// The whole of a file, which may be a pipe: reading it may take a while. Not found is an error of
// that kind.
Result<std::string> ReadFile(const std::string& path);

// The same for a file that is read while others wait: only a regular one is, and not a larger one.
Result<std::string> ReadRegularFile(const std::string& path, std::size_t most = kMaxFileBytes);

}  // namespace knx::client
