// The plugins a configuration may name: kube-scheduler's and ours, with the extension points they
// extend.
//
// The table is about names only. Whether a plugin is built is for the Registry to say; one that is
// here and not there is known but has no effect yet. Names that are neither are refused, by whoever
// reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace knx::framework {

// In the order in which a pod comes past them.
enum class Point : std::uint8_t {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
  kPlacementGenerate,
  kPlacementScore,
};
inline constexpr std::size_t kPointCount = 14;
inline constexpr std::array<Point, kPointCount> kAllPoints = {
    Point::kPreEnqueue,
    Point::kQueueSort,
    Point::kPreFilter,
    Point::kFilter,
    Point::kPostFilter,
    Point::kPreScore,
    Point::kScore,
    Point::kReserve,
    Point::kPermit,
    Point::kPreBind,
    Point::kBind,
    Point::kPostBind,
    Point::kPlacementGenerate,
    Point::kPlacementScore,
};

// As a configuration spells it: "preEnqueue".
std::string_view PointName(Point point);

class PointSet {
 public:
  constexpr PointSet() = default;
  constexpr PointSet(std::initializer_list<Point> points) {
    for (const Point point : points) bits_ = static_cast<std::uint16_t>(bits_ | Bit(point));
  }
  [[nodiscard]] constexpr bool Contains(Point point) const { return (bits_ & Bit(point)) != 0; }

 private:
  static constexpr std::uint32_t Bit(Point point) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(point);
  }
  std::uint16_t bits_ = 0;
};

enum class PluginOrigin : std::uint8_t {
  kDefault,   // kube-scheduler's, on unless a configuration says otherwise
  kOptional,  // kube-scheduler's, behind a feature gate that is off
  kOurs,      // on where a configuration names it
};

struct KnownPlugin {
  std::string_view name;
  PluginOrigin origin = PluginOrigin::kOurs;
  PointSet points;
  std::int32_t default_weight =
      0;  // in kube-scheduler's default set; 0: none stated, which means 1
};

// Every plugin there is a name for. First kube-scheduler's default set, in its order.
std::span<const KnownPlugin> KnownPlugins();

// By its name or by another spelling of it; nullptr if there is none. Plugins are never copied, so
// that pointers to them can be compared.
const KnownPlugin* FindPlugin(std::string_view name);

// Of a plugin that kube-scheduler once had and a version 1 configuration may not enable: what to
// write instead. Empty for every other name.
std::string_view RemovedPluginAdvice(std::string_view name);

// Names that somebody who wrote `name` may have meant, likeliest first, three at most.
std::vector<std::string_view> NamesLike(std::string_view name);

// "filter, score"
std::string PointNames(PointSet points);

}  // namespace knx::framework
