// What extenders say about where the members of a gang may go. They are asked before the gang is
// planned, once for members that no plugin can tell apart, about every node that comes into
// question; the plan is then made among the nodes that are left. While they are asked the gang
// holds nothing, not even its turn. What they said holds for one attempt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/actions.h"
#include "engine/engine_options.h"
#include "engine/extender_round.h"

namespace knx::engine {

struct GangRound {
  // Members that are alike.
  struct Kind {
    std::string uid;  // of the one that they are asked about
    cluster::ClassId pod_class;
    cluster::RelationId relation;
    std::vector<std::size_t> extenders;  // that are interested, in order
    std::size_t turn = 0;                // whose it is among them, to filter
    bool scoring = false;                // all have filtered
    std::vector<std::string> asked;      // about which nodes, sorted
    std::vector<std::string> left;       // of those, sorted
    std::vector<cluster::NodeRow> rows;  // where those are when the gang is planned, sorted
    ExtenderVerdicts verdicts;
    std::map<std::string, std::int64_t> scores;                // by node, weighted
    std::vector<std::pair<std::size_t, std::size_t>> took_by;  // extender, nodes it took away

    [[nodiscard]] bool Allows(cluster::NodeRow row) const;
    [[nodiscard]] bool IsAlike(const Kind& other) const {
      return pod_class == other.pod_class && relation == other.relation;
    }
  };
  std::vector<Kind> kinds;
  std::set<ActionId> unanswered;
  std::optional<std::string> failure;  // of an extender that cannot be done without
  std::size_t times = 0;               // that they were asked
};

class GangExtenders {
 public:
  // The nodes that come into question for a member, by name, sorted.
  using Nodes = std::function<std::vector<std::string>(cluster::PodId)>;
  using Emit = std::function<ActionId(AskExtender)>;

  // All of them must be there as long as this is.
  GangExtenders(cluster::State& state, const EngineOptions& options, Nodes nodes, Emit emit)
      : state_(state), options_(options), nodes_(std::move(nodes)), emit_(std::move(emit)) {}

  // Asks what is not known yet. False: nothing has to be waited for.
  bool Ask(cluster::GangId gang, std::span<const cluster::PodId> members, Time now);
  [[nodiscard]] bool Waits(cluster::GangId gang) const { return rounds_.Waits(gang); }
  // Why an attempt fails; nullptr: it does not.
  [[nodiscard]] const std::string* FailureFor(cluster::GangId gang);
  // The attempt is over, or is not made.
  void End(cluster::GangId gang) { rounds_.End(gang); }

  // The gang that was asked about; nullopt: nobody waits for this answer here.
  std::optional<cluster::GangId> OnAnswer(const ExtenderAnswered& answered, Time now);
  [[nodiscard]] std::optional<ActionId> Overdue(Time now) const { return rounds_.Overdue(now); }
  [[nodiscard]] Time NextWake() const { return rounds_.NextWake(); }

  // Of a member of the gang. nullptr: nobody has a say, or nobody was asked.
  [[nodiscard]] const GangRound::Kind* SaidAbout(cluster::GangId gang, cluster::PodId member);
  // Which extenders took nodes away, for people; begins with a space if there are any.
  [[nodiscard]] std::string WhoTook(const GangRound::Kind& kind) const;

  // `has_its_turn`: whether a gang does about which all is known.
  [[nodiscard]] std::optional<std::string> Verify(
      const std::function<bool(cluster::GangId)>& has_its_turn) const {
    return rounds_.Verify(has_its_turn);
  }

 private:
  using Rounds = PausedRounds<cluster::GangId, GangRound>;

  // What has yet to be asked.
  std::vector<GangRound::Kind> Unknown(std::span<const cluster::PodId> members,
                                       const GangRound* round);
  [[nodiscard]] std::vector<std::size_t> Interested(cluster::PodId member) const;
  // The member that was asked about is there, and as it was.
  [[nodiscard]] bool IsThere(const GangRound::Kind& kind);
  // The next question about a kind, if there is one.
  void AskNext(cluster::GangId gang, std::size_t part, Time now);
  void Send(cluster::GangId gang, std::size_t part, std::size_t extender, ExtenderVerb verb,
            Time now);
  void TakeFiltered(const Rounds::Asked& asked, const ExtenderAnswer& answer, Time now);
  // Where the nodes are now.
  void FindRows(GangRound& round) const;

  cluster::State& state_;
  const EngineOptions& options_;
  Nodes nodes_;
  Emit emit_;
  Rounds rounds_;
};

}  // namespace knx::engine
