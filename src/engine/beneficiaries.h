// Whom reservations are for: what pods and gangs say of themselves that a reservation may name.
#pragma once

#include "cluster/state.h"
#include "engine/reservation_book.h"

namespace knx::engine {

[[nodiscard]] BeneficiaryNames NamesOf(const cluster::State& state, cluster::PodId id);
[[nodiscard]] BeneficiaryNames NamesOf(const cluster::State& state, cluster::GangId id);

}  // namespace knx::engine
