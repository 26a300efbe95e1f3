#include "cmd/flag_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>

#include "cmd/flag_values.h"
#include "framework/config.h"

namespace knx::cmd {
namespace {

Error WrongValue(std::string_view text, std::string_view wanted) {
  return InvalidError(fmt::format("{:?} is {}", text.substr(0, kShownOfValue), wanted));
}

Result<Duration> SpanOf(std::string_view text) {
  const auto span = ParseDuration(text);
  if (!span.ok() || *span < Duration{} || *span > framework::kMaxConfiguredDuration) {
    return WrongValue(text, "no duration such as 15s or 1m30s, at most a year");
  }
  return *span;
}

Result<bool> BoolOf(std::string_view text) {
  const auto value = ParseFlagBool(text);
  if (!value) return WrongValue(text, "neither true nor false");
  return *value;
}

// Sets `out` to what `read` makes of the text.
template <class Read, class T>
std::function<Status(std::string_view)> Setter(Read read, T& out) {
  return [read, &out](std::string_view text) -> Status {
    KNX_TRY(out, read(text));
    return Ok();
  };
}

}  // namespace

void FlagTable::Any(Flag flag) {
  flag.group = group_;
  flags_.push_back(std::move(flag));
}

void FlagTable::Text(std::string name, std::string& out, std::string_view type, std::string what) {
  const auto read = [](std::string_view text) -> Result<std::string> { return std::string(text); };
  Any({.name = std::move(name),
       .group = {},
       .type = type,
       .what = std::move(what),
       .by_default = out,
       .take = Setter(read, out)});
}

void FlagTable::Text(std::string name, std::optional<std::string>& out, std::string_view type,
                     std::string_view by_default, std::string what) {
  const auto read = [](std::string_view text) -> Result<std::string> { return std::string(text); };
  Any({.name = std::move(name),
       .group = {},
       .type = type,
       .what = std::move(what),
       .by_default = std::string(by_default),
       .take = Setter(read, out)});
}

void FlagTable::Bool(std::string name, bool& out, std::string what) {
  Any({.name = std::move(name),
       .group = {},
       .type = {},
       .what = std::move(what),
       .by_default = fmt::format("{}", out),
       .take = Setter(BoolOf, out)});
}

void FlagTable::Bool(std::string name, std::optional<bool>& out, bool by_default,
                     std::string what) {
  Any({.name = std::move(name),
       .group = {},
       .type = {},
       .what = std::move(what),
       .by_default = fmt::format("{}", by_default),
       .take = Setter(BoolOf, out)});
}

void FlagTable::Integer(std::string name, std::int32_t& out, std::int64_t least, std::int64_t most,
                        std::string what) {
  const auto read = [least, most](std::string_view text) -> Result<std::int32_t> {
    const auto number = ParseFlagInteger(text);
    if (!number || *number < least || *number > most) {
      return WrongValue(text, fmt::format("no number from {} to {}", least, most));
    }
    return static_cast<std::int32_t>(*number);
  };
  Any({.name = std::move(name),
       .group = {},
       .type = "NUMBER",
       .what = std::move(what),
       .by_default = fmt::format("{}", out),
       .take = Setter(read, out)});
}

void FlagTable::Span(std::string name, Duration& out, std::string what) {
  Any({.name = std::move(name),
       .group = {},
       .type = "DURATION",
       .what = std::move(what),
       .by_default = FormatDuration(out),
       .take = Setter(SpanOf, out)});
}

void FlagTable::Span(std::string name, std::optional<Duration>& out, Duration by_default,
                     std::string what) {
  Any({.name = std::move(name),
       .group = {},
       .type = "DURATION",
       .what = std::move(what),
       .by_default = FormatDuration(by_default),
       .take = Setter(SpanOf, out)});
}

void FlagTable::List(std::string name, std::vector<std::string>& out, std::string what) {
  Flag flag{.name = std::move(name),
            .group = {},
            .type = "LIST",
            .what = std::move(what),
            .by_default = fmt::format("{}", fmt::join(out, ",")),
            .take = {}};
  // The first one takes the place of the default, the others add to it.
  flag.take = [&out, first = std::make_shared<bool>(true)](std::string_view text) {
    if (std::exchange(*first, false)) out.clear();
    for (std::string& entry : SplitFlagList(text)) out.push_back(std::move(entry));
    return Ok();
  };
  Any(std::move(flag));
}

void FlagTable::WithoutEffect(std::string name, std::string_view type, std::string_view why) {
  const bool is_bool = type.empty();
  Any({.name = std::move(name),
       .group = {},
       .type = type,
       .what = fmt::format("no effect: {}", why),
       .by_default = {},
       .without_effect = why,
       .take = [is_bool](std::string_view text) {
         const Result<bool> value = is_bool ? BoolOf(text) : true;
         return value.ok() ? Ok() : Status(value.error());
       }});
}

}  // namespace knx::cmd
