// Lines that say what the daemon does: a message that is always the same, and fields with what it
// is about. As text in the form of Kubernetes' own components, or as one JSON object a line with
// the same keys as theirs.
//
//   log.Info(2, "Bound pod", {{"pod", ObjectName{"default", "web-1"}}, {"node", "n1"}});
//   I1115 18:20:00.123456       7 narrator.cc:41] "Bound pod" pod="default/web-1" node="n1"
//
// A line that comes again and again is written a few times a minute, and then how many were left
// out. Has no clock and writes nowhere by itself: both are handed in.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace knx::observe {

// Something that lives in a namespace, or nowhere.
struct ObjectName {
  std::string_view namespace_, name;
};

struct LogField {
  LogField(std::string_view key_is, std::string_view text) : key(key_is), value(text) {}
  LogField(std::string_view key_is, const char* text)
      : key(key_is), value(std::string_view(text)) {}
  LogField(std::string_view key_is, const std::string& text)
      : key(key_is), value(std::string_view(text)) {}
  LogField(std::string_view key_is, ObjectName name) : key(key_is), value(name) {}
  LogField(std::string_view key_is, bool yes) : key(key_is), value(yes) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  LogField(std::string_view key_is, T number)
      : key(key_is), value(static_cast<std::int64_t>(number)) {}

  std::string_view key;
  std::variant<std::string_view, ObjectName, std::int64_t, bool> value;
};

class Log {
 public:
  enum class Format { kText, kJson };
  struct Options {
    Format format = Format::kText;
    int verbosity = 0;               // lines of Info() above this are not written
    std::function<Time()> now = {};  // on the wall, for people
    // Gets a line with its end.
    std::function<void(std::string_view line)> write = {};
    int process = 0;
    // Of lines with the same message. Those that were asked for by a verbosity are not held back.
    std::uint32_t most_alike_a_minute = 20;
  };
  using Fields = std::initializer_list<LogField>;
  using Where = std::source_location;

  explicit Log(Options options) : options_(std::move(options)) {}

  // For fields that cost something to make.
  [[nodiscard]] bool Says(int level) const { return level <= options_.verbosity; }
  // Level 0 is always written, 2 says what becomes of every pod, 4 and above are for finding
  // mistakes.
  void Info(int level, std::string_view message, Fields fields = {},
            Where where = Where::current());
  // Something that somebody may have to look after. What went wrong is the field "err".
  void Error(std::string_view message, Fields fields = {}, Where where = Where::current());
  // Says what was left out so far; for the end.
  void Flush();

  void SetVerbosity(int verbosity) { options_.verbosity = verbosity; }

 private:
  enum class Severity { kInfo, kError };
  struct Line {
    Severity severity;
    int level;
    std::string_view message;
    Fields fields;
    Where where;
  };

  void WriteUnlessTooMany(const Line& line);
  void Write(const Line& line, Time now);
  void SayLeftOut(Time now);

  struct Repeats {
    Severity severity = Severity::kInfo;
    std::uint32_t written = 0;
    std::uint64_t left_out = 0;
  };
  Options options_;
  // By message; messages are texts of the program, so there are not many.
  std::map<std::string, Repeats, std::less<>> repeats_;
  Time minute_began_{};
};

// "text" or "json", as --logging-format has it; false: neither.
bool ParseLogFormat(std::string_view text, Log::Format& out);

}  // namespace knx::observe
