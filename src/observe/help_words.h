// What would help somebody who waits, in words. It was tried on the state; only the words are made
// here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace knx::observe {

// Each line helps by itself; the smallest change comes first.
std::vector<std::string> HelpFor(const cluster::Gang& gang, const engine::GangInquiry& inquiry);
std::vector<std::string> HelpFor(const cluster::State& state, cluster::PodId pod,
                                 const engine::PodInquiry& inquiry);

// "1 pod", "2 pods"
std::string Counted(std::size_t count, std::string_view one, std::string_view many);
// A few names, and how many more there are.
std::string Some(const std::vector<std::string>& names);
// "default/big"
std::string NameOf(const cluster::State& state, cluster::PodId pod);
// To the second: less is of no use to anybody.
std::string Moment(Time time);

}  // namespace knx::observe
