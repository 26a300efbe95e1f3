#include "plugins/nexus/resource_reservation/resource_reservation.h"

#include "plugins/common/args.h"

namespace knx::plugins {

Result<std::unique_ptr<framework::Plugin>> ResourceReservation::Make(
    const framework::PluginArgs& args) {
  framework::ReservationArgs read;
  constexpr std::int64_t kLongest = 365LL * 86'400;
  constexpr std::int64_t kSecond = Duration::Seconds(1).ns;
  std::int64_t lasts = read.lasts.ns / kSecond, driver_hold = read.driver_hold.ns / kSecond;
  KNX_TRY_DONE(ReadArgs(args, "ResourceReservationArgs", [&](k8s::FieldReader& fields) {
    fields.Read("durationSeconds", lasts, k8s::IntegerLimits{.min = 1, .max = kLongest});
    fields.Read("driverSeconds", driver_hold, k8s::IntegerLimits{.min = 1, .max = kLongest});
  }));
  read.lasts = Duration::Seconds(lasts);
  read.driver_hold = Duration::Seconds(driver_hold);
  return std::unique_ptr<framework::Plugin>(std::make_unique<ResourceReservation>(read));
}

}  // namespace knx::plugins
