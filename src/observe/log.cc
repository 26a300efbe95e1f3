#include "observe/log.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "base/quoted_text.h"

namespace knx::observe {
namespace {

constexpr Duration kMinute = Duration::Minutes(1);

// The last `parts` parts of a path.
std::string_view EndOfPath(std::string_view path, int parts) {
  std::size_t begin = path.size();
  for (; parts > 0 && begin != 0 && begin != std::string_view::npos; --parts) {
    begin = path.rfind('/', begin - 1);
  }
  return begin == std::string_view::npos || begin == 0 ? path : path.substr(begin + 1);
}

std::string FullName(const ObjectName& name) {
  return name.namespace_.empty() ? std::string(name.name)
                                 : fmt::format("{}/{}", name.namespace_, name.name);
}

struct AsText {
  std::string operator()(std::string_view text) const { return QuotedText(text); }
  std::string operator()(const ObjectName& name) const { return QuotedText(FullName(name)); }
  std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(bool yes) const { return yes ? "true" : "false"; }
};

struct AsJson : AsText {
  using AsText::operator();
  std::string operator()(const ObjectName& name) const {
    if (name.namespace_.empty()) {
      return fmt::format(R"({{"name":{}}})", QuotedText(name.name));
    }
    return fmt::format(R"({{"name":{},"namespace":{}}})", QuotedText(name.name),
                       QuotedText(name.namespace_));
  }
};

// "1115 18:20:00.123456"
std::string KlogTime(Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t fraction = ((time.ns % kSecond) + kSecond) % kSecond;
  const std::string whole = FormatTime(Time{time.ns - fraction});  // 2026-11-15T18:20:00Z
  const std::string_view text = whole;
  return fmt::format("{}{} {}.{:06}", text.substr(5, 2), text.substr(8, 2), text.substr(11, 8),
                     fraction / 1000);
}

}  // namespace

void Log::Info(int level, std::string_view message, Fields fields, Where where) {
  if (!Says(level)) return;
  const Line line{Severity::kInfo, level, message, fields, where};
  level > 0 ? Write(line, options_.now()) : WriteUnlessTooMany(line);
}

void Log::Error(std::string_view message, Fields fields, Where where) {
  WriteUnlessTooMany({Severity::kError, 0, message, fields, where});
}

void Log::WriteUnlessTooMany(const Line& line) {
  const Time now = options_.now();
  // The clock on the wall may have been set back, too.
  if (now - minute_began_ >= kMinute || now < minute_began_) {
    SayLeftOut(now);
    minute_began_ = now;
  }
  auto repeats = repeats_.find(line.message);
  if (repeats == repeats_.end()) {
    repeats = repeats_.emplace(std::string(line.message), Repeats{.severity = line.severity}).first;
  }
  if (repeats->second.written >= options_.most_alike_a_minute) {
    ++repeats->second.left_out;
    return;
  }
  ++repeats->second.written;
  Write(line, now);
}

void Log::Flush() { SayLeftOut(options_.now()); }

void Log::SayLeftOut(Time now) {
  for (const auto& [message, repeats] : std::exchange(repeats_, {})) {
    if (repeats.left_out == 0) continue;
    Write({repeats.severity,
           0,
           "Left out lines that say the same",
           {{"message", message}, {"lines", repeats.left_out}},
           Where::current()},
          now);
  }
}

void Log::Write(const Line& line, Time now) {
  std::string out;
  auto to = std::back_inserter(out);
  const std::string_view file = line.where.file_name();
  if (options_.format == Format::kText) {
    fmt::format_to(to, "{}{} {:7} {}:{}] {}", line.severity == Severity::kError ? 'E' : 'I',
                   KlogTime(now), options_.process, EndOfPath(file, 1), line.where.line(),
                   QuotedText(line.message));
    for (const LogField& field : line.fields) {
      fmt::format_to(to, " {}={}", field.key, std::visit(AsText{}, field.value));
    }
  } else {
    const std::int64_t microseconds = now.ns / 1000;
    fmt::format_to(to, R"({{"ts":{}.{:03},"caller":"{}:{}","msg":{})", microseconds / 1000,
                   microseconds % 1000, EndOfPath(file, 2), line.where.line(),
                   QuotedText(line.message));
    if (line.severity == Severity::kInfo) fmt::format_to(to, R"(,"v":{})", line.level);
    for (const LogField& field : line.fields) {
      fmt::format_to(to, R"(,"{}":{})", field.key, std::visit(AsJson{}, field.value));
    }
    out += '}';
  }
  out += '\n';
  options_.write(out);
}

bool ParseLogFormat(std::string_view text, Log::Format& out) {
  if (text == "text") {
    out = Log::Format::kText;
  } else if (text == "json") {
    out = Log::Format::kJson;
  } else {
    return false;
  }
  return true;
}

}  // namespace knx::observe
