#include "cmd/text_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace knx::cmd {
namespace {

namespace fs = std::filesystem;

Error FileError(const std::string& name, std::string_view what, int code) {
  return InvalidError(
      fmt::format("{}: {}: {}", name.empty() ? "\"\"" : name, what, std::strerror(code)));
}

Result<std::string> ReadAll(std::FILE* file, const std::string& name, std::size_t most) {
  std::string text;
  std::vector<char> chunk(std::size_t{1} << 16);
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file)) {
    text.append(chunk.data(), got);
    if (text.size() > most) {
      return InvalidError(fmt::format("{}: too large: at most {} bytes are allowed", name, most));
    }
  }
  if (std::ferror(file) != 0) return FileError(name, "cannot be read", errno);
  return text;
}

}  // namespace

void OpenStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free number is this one. Open the wrong way round: who uses it gets an error.
    if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) return;
  }
}

std::string DisplayName(const std::string& path) {
  return path == kStandardInput ? "<stdin>" : path;
}

Result<std::string> ReadText(const std::string& path, std::size_t most) {
  if (path == kStandardInput) return ReadAll(stdin, DisplayName(path), most);
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return FileError(path, "cannot be read", errno);
  auto text = ReadAll(file, path, most);
  std::fclose(file);
  return text;
}

Result<std::optional<InputLines::Line>> InputLines::Next() {
  Line line;
  bool any = false;
  while (true) {
    if (used_ == chunk_.size()) {
      chunk_.resize(std::size_t{1} << 16);
      used_ = 0;
      const ssize_t got = ::read(STDIN_FILENO, chunk_.data(), chunk_.size());
      const int code = errno;
      chunk_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      if (got < 0 && code == EINTR) continue;
      if (got < 0) return FileError(DisplayName("-"), "cannot be read", code);
      if (got == 0) return any ? std::optional(std::move(line)) : std::nullopt;
    }
    any = true;
    const std::size_t end = chunk_.find('\n', used_);
    const std::size_t stop = std::min(end, chunk_.size());
    if (line.text.size() + (stop - used_) > kMaxInputBytes) line = {.text = {}, .too_long = true};
    if (!line.too_long) line.text.append(chunk_, used_, stop - used_);
    used_ = stop;
    if (end == std::string::npos) continue;
    ++used_;
    return std::optional(std::move(line));
  }
}

Status WriteOut(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    return FileError("<stdout>", "cannot be written", errno);
  return Ok();
}

bool IsSameFile(const std::string& path, const std::string& other) {
  const auto followed = [](const std::string& name) {
    return name == kStandardInput ? std::string("/dev/stdin") : name;
  };
  std::error_code ignored;
  return fs::is_regular_file(followed(path), ignored) &&
         fs::equivalent(followed(path), followed(other), ignored);
}

void LineFile::Open() {
  file_.reset(std::fopen(path_.c_str(), "wbe"));
  if (file_ == nullptr) first_error_ = errno;
}

void LineFile::Add(std::string_view line) {
  if (file_ == nullptr && !failed()) Open();
  if (failed()) return;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() &&
                       std::fputc('\n', file_.get()) != EOF;
  if (!written) first_error_ = errno;
}

Status LineFile::Close() {
  if (file_ == nullptr && !failed()) Open();
  std::FILE* file = file_.release();
  if (file != nullptr && std::fclose(file) != 0 && first_error_ == 0) first_error_ = errno;
  if (first_error_ != 0) return FileError(path_, "cannot be written", first_error_);
  return Ok();
}

}  // namespace knx::cmd
