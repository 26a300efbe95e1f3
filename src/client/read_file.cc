#include "client/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/quoted_text.h"

namespace knx::client {
namespace {

Error CannotRead(const std::string& path, int code) {
  const std::string name = path.empty() ? "\"\"" : Printable(path);
  std::string message = fmt::format("{}: cannot be read: {}", name, std::strerror(code));
  if (code == ENOENT || code == ENOTDIR) return NotFoundError(std::move(message));
  return InvalidError(std::move(message));
}

Result<std::string> ReadToEnd(int fd, const std::string& path, std::size_t most) {
  std::string text;
  std::array<char, 16384> chunk;
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CannotRead(path, errno);
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > most) {
      return InvalidError(
          fmt::format("{}: too large: at most {} bytes are allowed", Printable(path), most));
    }
  }
}

Result<std::string> OpenAndRead(const std::string& path, bool only_regular, std::size_t most) {
  // O_NONBLOCK: the open itself would wait for the other end of a pipe.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (only_regular ? O_NONBLOCK : 0));
  if (fd < 0) return CannotRead(path, errno);
  struct stat status = {};
  if (only_regular && (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
    ::close(fd);
    return InvalidError(fmt::format("{}: is not a regular file", Printable(path)));
  }
  Result<std::string> text = ReadToEnd(fd, path, most);
  ::close(fd);
  return text;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  return OpenAndRead(path, false, kMaxFileBytes);
}

Result<std::string> ReadRegularFile(const std::string& path, std::size_t most) {
  return OpenAndRead(path, true, most);
}

}  // namespace knx::client
