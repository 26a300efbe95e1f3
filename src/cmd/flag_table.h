// Flags as data: every one has a name, a group, what it means, and what takes its value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace knx::cmd {

struct Flag {
  std::string name;  // "leader-elect"
  std::string_view group;
  std::string_view type;  // what stands for the value in the help; empty: it can do without one
  std::string what;
  std::string by_default;                // as it is shown; empty: nothing
  std::string_view without_effect = {};  // why; empty: it has one
  // Takes a value; called for each in order.
  std::function<Status(std::string_view text)> take;
  bool given = false;
};

class FlagTable {
 public:
  void Group(std::string_view name) { group_ = name; }
  // Each shows the value that `out` has now as the default, and sets it.
  void Text(std::string name, std::string& out, std::string_view type, std::string what);
  void Text(std::string name, std::optional<std::string>& out, std::string_view type,
            std::string_view by_default, std::string what);
  void Bool(std::string name, bool& out, std::string what);
  void Bool(std::string name, std::optional<bool>& out, bool by_default, std::string what);
  void Integer(std::string name, std::int32_t& out, std::int64_t least, std::int64_t most,
               std::string what);
  void Span(std::string name, Duration& out, std::string what);
  void Span(std::string name, std::optional<Duration>& out, Duration by_default, std::string what);
  void List(std::string name, std::vector<std::string>& out, std::string what);
  void Any(Flag flag);
  // Accepted, checked to have a value, and nothing more.
  void WithoutEffect(std::string name, std::string_view type, std::string_view why);

  [[nodiscard]] std::vector<Flag>& flags() { return flags_; }

 private:
  std::string_view group_;
  std::vector<Flag> flags_;
};

}  // namespace knx::cmd
