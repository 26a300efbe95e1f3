// What a real API server sent once (record.py), as a mould: the same bytes again for other objects
// of the same kind. Names, uids and nodes are replaced by others of the same length, so that
// everything else stays as it was sent, lengths included.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/read_proto.h"

namespace knx::storm {

// Who was there when it was recorded.
// kResident: a pod that runs, kPassing: one that comes, runs and goes, both of another scheduler.
// kCanary: one of ours that fits, kWaits: one that fits nowhere.
enum class Role { kNode, kResident, kPassing, kCanary, kWaits };
inline constexpr std::size_t kRoles = 5;

// Which of many, and on which node.
struct Identity {
  int number = 0, node = 0;
};

// One event of a watch.
class Mould {
 public:
  // `bytes` are as they were sent, with what separates them from the next event.
  Mould(std::string bytes, const k8s::Object& object);

  void Cast(const Identity& identity, std::string& out) const;
  // As it is written in the copies.
  [[nodiscard]] std::string NameOf(int number) const;
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  struct Gap {
    std::size_t at = 0, digits = 0;
    bool is_node = false;
  };
  void LeaveGaps(std::string_view text, std::size_t digits, bool is_node);

  std::string bytes_, name_;
  std::vector<Gap> gaps_;
};

struct Life {
  std::vector<Mould> added, changed, gone;
};

class Recording {
 public:
  enum class Encoding { kProtobuf, kJson };
  static Result<Recording> Read(const std::string& folder, Encoding encoding);

  [[nodiscard]] const Life& life(Role role) const { return lives_[static_cast<std::size_t>(role)]; }
  // Everything that is there has been told.
  [[nodiscard]] const std::string& end_of_list() const { return end_of_list_; }
  [[nodiscard]] const char* content_type() const;

 private:
  Status Take(std::string_view stream);
  Status TakeEvent(std::string_view event);
  [[nodiscard]] Status CheckWhole() const;

  Encoding encoding_ = Encoding::kProtobuf;
  std::array<Life, kRoles> lives_;
  std::string end_of_list_;
};

}  // namespace knx::storm
