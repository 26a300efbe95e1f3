// What is reserved, and how much of it is used. Every reservation has places; what a place has left
// is what was asked for less what the pods took that it is for. Changes nothing in the state:
// whoever owns both keeps the room there that is left here (core_reservations.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/state.h"
#include "k8s/objects.h"

namespace knx::engine {

enum class ReservationStage : std::uint8_t {
  kPlanned,  // its time has not come
  // For room, as long as there is none for all that is left of it. Nothing is held meanwhile, but
  // for work that has begun, which keeps what it has.
  kWaiting,
  // Of executors: room is being made for them and for their driver, and it is held for all or none.
  kMakingRoom,
  kHeld,
  kUsed,  // its pods have what they need
  kExpired,
};

// What a pod says about itself that reservations are for, in its namespace.
struct BeneficiaryNames {
  std::string_view namespace_;
  std::string_view group, app;  // empty: none
};

class ReservationBook;

struct Reservation {
  struct Place {
    k8s::ReservedPlace asked;
    cluster::ResourceVector left;
    cluster::PodId hold;   // stands for what is left in the state; invalid: nothing does
    cluster::NodeRow row;  // where it was last
  };
  // What a pod has of a place.
  struct Taken {
    std::size_t place = 0;
    cluster::ResourceVector amounts;
  };
  struct User {
    cluster::NodeRow row;
    std::vector<Taken> taken;
  };

  k8s::ResourceReservation object;
  std::string group, app;    // whom it is for; one of them is empty
  cluster::GangId made_for;  // whose driver has yet to make those it is for; invalid: an object's
  Time begins, ends;
  std::string why;  // there is no room
  std::vector<Place> places;
  // What its status says as far as we know, and the action that writes it.
  std::vector<k8s::Condition> written;
  std::uint64_t patch = 0;
  std::optional<std::pair<ReservationStage, std::string>> said;  // what that was made of
  bool unsettled = false;  // something of it may have to be held again

  [[nodiscard]] ReservationStage stage() const { return stage_; }
  [[nodiscard]] const std::map<cluster::PodId, User>& users() const { return users_; }
  [[nodiscard]] bool over() const {
    return stage_ == ReservationStage::kUsed || stage_ == ReservationStage::kExpired;
  }
  [[nodiscard]] bool all_taken() const;
  // What stands for its places in the state.
  [[nodiscard]] std::vector<cluster::PodId> holds() const;

 private:
  // What other things follow from is changed by the book alone, which sees to it that they do.
  friend class ReservationBook;
  ReservationStage stage_ = ReservationStage::kPlanned;
  std::map<cluster::PodId, User> users_;
};

class ReservationBook {
 public:
  using Reservations = std::map<std::string, Reservation>;  // by "namespace/name"

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] const Reservations& all() const { return all_; }
  [[nodiscard]] Reservations& all() { return all_; }
  [[nodiscard]] Reservation* Find(const std::string& key);
  // `made`: when it begins, unless it says so itself; `lasts`: how long, unless it says so.
  Reservation& Add(const k8s::ResourceReservation& object, Time made, Duration lasts,
                   cluster::ResourceNames& names);
  void Remove(const std::string& key);
  void Enter(Reservation& reservation, ReservationStage stage);

  // Namespace and group of those that came, went, or entered another stage since this was last
  // asked.
  using Groups = std::set<std::pair<std::string, std::string>>;
  [[nodiscard]] bool has_changed() const { return !changed_.empty(); }
  Groups TakeChanged() { return std::exchange(changed_, {}); }

  // Those that the pod may use.
  [[nodiscard]] std::vector<Reservation*> For(const BeneficiaryNames& names);
  [[nodiscard]] std::vector<const Reservation*> For(const BeneficiaryNames& names) const;

  // Those that the pod uses.
  [[nodiscard]] std::vector<Reservation*> UsedBy(cluster::PodId pod) const;
  // The pod has a place on a node, and takes nothing.
  void AddUser(Reservation& reservation, cluster::PodId pod, cluster::NodeRow row);
  // The pod has a place on a node: takes as much of `wanted` as the places there have, and leaves
  // the rest in it. Gives the places that have less now.
  std::vector<std::size_t> TakeHere(Reservation& reservation, cluster::PodId pod,
                                    cluster::NodeRow row, cluster::ResourceVector& wanted);
  // The same for a user without such places: from the one that suits it best; nullopt: from none.
  static std::optional<std::size_t> TakeElsewhere(Reservation& reservation, cluster::PodId pod,
                                                  cluster::ResourceVector& wanted);
  // It has it no longer. Gives the places that have more now.
  std::vector<std::size_t> GiveBack(Reservation& reservation, cluster::PodId pod);

  // When something is to be done next.
  void Remind(Time when) { moments_.insert(when); }
  [[nodiscard]] Time NextMoment() const { return moments_.empty() ? kNever : *moments_.begin(); }
  // True: a moment has come.
  bool PopMoments(Time now);

 private:
  [[nodiscard]] std::vector<std::string> KeysFor(const BeneficiaryNames& names) const;
  void NoteChange(const Reservation& reservation);
  void ForgetUse(const Reservation& reservation, cluster::PodId pod);

  Reservations all_;
  // Keys of reservations by whom they are for: "namespace/g/group", "namespace/a/app".
  std::map<std::string, std::set<std::string>> by_names_;
  std::map<cluster::PodId, std::vector<Reservation*>> uses_;  // never empty
  Groups changed_;
  std::set<Time> moments_;
};

[[nodiscard]] std::string KeyOf(const k8s::ResourceReservation& object);
// Takes as much of `wanted` out of `from` as it has, and gives what that is.
cluster::ResourceVector TakeOut(cluster::ResourceVector& from, cluster::ResourceVector& wanted);
// Its places are where they have room in the state.
void NoteRows(Reservation& reservation, const cluster::State& state);

// What is reserved, as pods come to use it one after the other.
class ReservedRoom {
 public:
  // Whether the pod gets nothing on the node but what those that it may use keep there. If so that
  // is there for no other.
  bool Take(std::span<Reservation* const> usable, cluster::NodeRow row,
            cluster::ResourceVector wanted);

 private:
  std::map<cluster::PodId, cluster::ResourceVector> left_;  // by hold, where it was taken from
};

}  // namespace knx::engine
