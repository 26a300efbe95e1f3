// Pods of gangs that have done their work and are still there: nobody has to start in their stead.
// The name of a gang may be used again, by another Job of a CronJob or for the next training, while
// pods of the run before lie around. So what has finished counts only for the run that it was in:
// that of its owner, and that of members which were there before it ended.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cluster/gang_key.h"

namespace knx::cluster {

struct FinishedMember {
  std::string uid;
  std::string owner;  // the uid of what made it; empty: nothing did
  Time created, ended;
};
// A pod that has succeeded. When it ended is as good as its conditions say.
FinishedMember ReadFinishedMember(const k8s::Pod& pod);

class FinishedMembers {
 public:
  // False: it was known already.
  bool Add(const GangKey& key, FinishedMember pod);
  // The pod is gone. Nothing: it was not known.
  struct Removed {
    GangKey key;
    Time last_run;  // see below
  };
  std::optional<Removed> Remove(const std::string& uid);
  [[nodiscard]] bool Contains(const GangKey& key) const { return gangs_.contains(key); }
  // Of a run that began then.
  [[nodiscard]] std::uint32_t Count(const GangKey& key, Time begun) const;
  // The first pod of the owner that has finished was made then; kNever: none has.
  [[nodiscard]] Time BegunBy(const GangKey& key, std::string_view owner) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Owner {
    Time begun = kNever;
    std::uint32_t pods = 0;
  };
  struct OfGang {
    // When the last run began that a pod may have been in, in order.
    std::vector<Time> last_runs;
    std::map<std::string, Owner, std::less<>> owners;
  };
  using Gangs = std::map<GangKey, OfGang>;
  struct Entry {
    Gangs::iterator gang;
    std::map<std::string, Owner, std::less<>>::iterator owner;
    Time last_run;
  };

  Gangs gangs_;
  absl::flat_hash_map<std::string, Entry> pods_;  // by uid
};

}  // namespace knx::cluster
