// How many members of a gang can be placed at most, counted instead of tried. Where that is fewer
// than must start together, the gang is impossible as things are, and the count says why.
//
// The count leaves out what it cannot know, so it may be greater than what really fits, and never
// less.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/symbol.h"
#include "cluster/state.h"
#include "engine/kind_room.h"

namespace knx::engine {

struct GangBound {
  std::size_t most = 0;  // members that can be placed at once
  std::string of = {};   // of whom, if not of all who wait: "role ps"
  // What nodes have too little of: one resource for itself, or all of these together. None: it is
  // that too few nodes come into question, whatever they have left.
  std::vector<cluster::ResourceId> by;
  // What also counts: no two in one domain of a label, or all in one domain of it, and in which
  // most have room. Invalid: does not.
  Symbol apart = {}, together = {}, domain = {};
};

// "at most 9 fit by nvidia.com/gpu"
std::string Describe(const cluster::State& state, const GangBound& bound);

class GangCount {
 public:
  struct Kind {
    KindRoom room;
    std::size_t members = 0;
  };

  // Reads the state as it is; keeps the kinds.
  GangCount(const cluster::State& state, std::vector<Kind> kinds);

  // The least of the bounds, and of equal ones the simplest. Meaningless if a kind is not known.
  [[nodiscard]] GangBound Tightest() const;
  [[nodiscard]] std::span<const Kind> kinds() const { return kinds_; }

  // How many members each domain of a label has room for, counted the same way; by the texts of the
  // values. Nodes without the label are left out.
  struct Domain {
    Symbol value;
    std::size_t most = 0;
  };
  [[nodiscard]] std::vector<Domain> ByDomain(Symbol key) const;

 private:
  struct Most {
    std::size_t members = 0;
    Symbol domain;
  };
  // Names no resource that makes no difference.
  void Simplify(GangBound& bound) const;
  // Bounds `bound.most` by what it names.
  void Fill(GangBound& bound) const;
  [[nodiscard]] Most MostOf(const Kind& kind, const GangBound& bound) const;
  [[nodiscard]] std::vector<Domain> DomainsOf(const Kind& kind, const GangBound& bound) const;
  // Members of different sizes share what the nodes have of one resource.
  [[nodiscard]] std::size_t Shared(cluster::ResourceId id) const;
  [[nodiscard]] std::vector<cluster::ResourceId> ResourcesBySimplicity() const;

  const cluster::State& state_;
  std::vector<Kind> kinds_;
  std::size_t members_ = 0;  // of all kinds
};

}  // namespace knx::engine
