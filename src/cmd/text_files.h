// Files and standard streams of the command line. Errors name the file and say why.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "k8s/yaml_reader.h"

namespace knx::cmd {

// No input may be larger: what comes after it could not be parsed, and a wrong name (/dev/zero)
// would fill the memory.
inline constexpr std::size_t kMaxInputBytes = k8s::kMaxYamlBytes;

inline constexpr std::string_view kStandardInput = "-";

// For the beginning of a program: a standard stream that nobody gave us is opened on something that
// cannot be used, so that the first file we open does not take its place.
void OpenStandardStreams();

// The whole text; "-" is standard input.
Result<std::string> ReadText(const std::string& path, std::size_t most = kMaxInputBytes);
// How errors name what ReadText reads.
std::string DisplayName(const std::string& path);

// Lines of standard input, each as soon as it is there.
class InputLines {
 public:
  struct Line {
    std::string text;       // without its end
    bool too_long = false;  // more than kMaxInputBytes; there is no text then
  };
  // Nothing: the input has ended.
  Result<std::optional<Line>> Next();

 private:
  std::string chunk_;     // what was read last
  std::size_t used_ = 0;  // of it
};

// All of it on standard output, now.
Status WriteOut(std::string_view text);

// Whether both names lead to one regular file, by links of either kind too; "-" is standard input.
bool IsSameFile(const std::string& path, const std::string& other);

// A file that is written line by line. The first line makes it, and empties it if it is there: who
// finds before that that there is nothing to write leaves it as it was.
class LineFile {
 public:
  explicit LineFile(std::string path) : path_(std::move(path)) {}

  void Add(std::string_view line);
  // Something could not be written.
  [[nodiscard]] bool failed() const { return first_error_ != 0; }
  // Must be called once everything was added: what could not be written is said here.
  Status Close();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void Open();

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  int first_error_ = 0;
};

}  // namespace knx::cmd
