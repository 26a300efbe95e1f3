// A ResourceReservation in its two shapes: so many equal places (resources, count), or places by
// name (reservations).
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <type_traits>

#include "k8s/json_fields.h"
#include "k8s/names.h"
#include "k8s/object_fields.h"
#include "k8s/proto_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {
namespace {

// Sorted by name; what is not asked for is left out.
void Add(ResourceList& list, std::string_view name, Quantity amount) {
  if (amount.IsZero()) return;
  const auto at =
      std::lower_bound(list.begin(), list.end(), name,
                       [](const auto& entry, std::string_view n) { return entry.first < n; });
  list.insert(at, {std::string(name), amount});
}

template <class Fields>
void CheckAmounts(Fields& fields, std::string_view key, ResourceList& list) {
  for (const auto& [name, amount] : list) {
    if (amount < Quantity()) fields.Fail(key, fmt::format("{}: must not be negative", name));
  }
  std::erase_if(list, [](const auto& entry) { return entry.second.IsZero(); });
  if (list.empty()) fields.Fail(key, "reserves nothing");
}

// By the names that pods use, and "gpu" as for places by name. What nobody asks for would be
// reserved for nobody.
template <class Fields>
void ReadAmounts(Fields& spec, ResourceList& out) {
  ResourceList said;
  ReadResourceList(spec, "resources", said);
  for (const auto& [name, amount] : said) {
    const auto resource = ReservedResource(name);
    const auto is_it = [&](const auto& entry) { return entry.first == *resource; };
    if (!resource) {
      spec.Fail("resources", fmt::format("{}: no resource; {}", name, kReservedResources));
    } else if (std::any_of(out.begin(), out.end(), is_it)) {
      spec.Fail("resources", fmt::format("{}: is said twice", *resource));
    } else {
      Add(out, *resource, amount);
    }
  }
}

template <class Fields>
void ReadPlace(Fields& fields, std::string_view name, ResourceReservation& out) {
  ReservedPlace& place = out.places.emplace_back();
  place.name = name;
  fields.Read("node", place.node);
  const auto read = [&](std::string_view key, std::string_view resource) {
    Quantity amount;
    if (fields.Read(key, amount)) Add(place.resources, resource, amount);
  };
  read("cpu", names::kCpu);
  read("memory", names::kMemory);
  read("gpu", names::kNvidiaGpu);
  if (fields.ok()) CheckAmounts(fields, "cpu", place.resources);
}

template <class Fields>
void ReadEqualPlaces(Fields& spec, ResourceReservation& out) {
  ReservedPlace place;
  std::int32_t count = 1;
  ReadAmounts(spec, place.resources);
  spec.Read("count", count, IntegerLimits{.min = 1, .max = kMaxReservedPlaces});
  if (spec.ok()) CheckAmounts(spec, "resources", place.resources);
  for (std::int32_t i = 0; spec.ok() && i < count; ++i) {
    place.name = fmt::format("{:05}", i);
    out.places.push_back(place);
  }
}

template <class Fields>
void ReadDuration(Fields& spec, std::optional<Duration>& out) {
  std::string text;
  if (!spec.Read("duration", text)) return;
  const Result<Duration> duration = text.size() > kMaxParsedText
                                        ? Result<Duration>(InvalidError("too long"))
                                        : ParseDuration(text);
  if (!duration.ok() || *duration <= Duration{}) {
    return spec.Fail("duration", "must be a time above 0 like 90s, 10m or 2h30m");
  }
  out = *duration;
}

// Of the map that `parent` has by that name.
template <class Fields>
void NoteUnreadIn(Fields& parent, std::string_view map, std::span<const std::string_view> read,
                  std::string_view prefix, std::vector<std::string>& out) {
  parent.ForEachEntry(map, [&](std::string_view name, Fields& /*value*/) {
    if (std::find(read.begin(), read.end(), name) == read.end()) {
      out.push_back(fmt::format("{}{}", prefix, name));
    }
  });
}

// An API server leaves out what its schema does not have; a file may have it.
template <class Fields>
void NoteUnread(Fields& object, ResourceReservation& out) {
  constexpr std::string_view kOfSpec[] = {"podGroupName", "owner", "start",       "duration",
                                          "resources",    "count", "reservations"};
  constexpr std::string_view kOfPlace[] = {"node", "cpu", "memory", "gpu"};
  if constexpr (!std::is_same_v<Fields, ProtoFields>) {
    NoteUnreadIn(object, "spec", kOfSpec, "", out.unread);
    object.Map("spec", [&](Fields& spec) {
      if (!spec.Has("reservations")) return;
      spec.Map("reservations", [&](Fields& places) {
        for (const ReservedPlace& place : out.places) {
          NoteUnreadIn(places, place.name, kOfPlace, fmt::format("reservations.{}.", place.name),
                       out.unread);
        }
      });
    });
  }
}

}  // namespace

std::optional<std::string_view> ReservedResource(std::string_view name) {
  if (name == "gpu") return names::kNvidiaGpu;
  const bool is_one = name == names::kCpu || name == names::kMemory ||
                      name == "ephemeral-storage" || name.starts_with("hugepages-") ||
                      name.find('/') != std::string_view::npos;
  return is_one ? std::optional(name) : std::nullopt;
}

template <class Fields>
void ReadFields(Fields& object, ResourceReservation& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.RequireMap("spec", [&](Fields& spec) {
    spec.Read("podGroupName", out.pod_group);
    spec.Read("owner", out.owner);
    spec.Read("start", out.start);
    ReadDuration(spec, out.duration);
    if (spec.Has("resources") == spec.Has("reservations")) {
      return spec.Fail("resources", "either this or reservations says what is reserved");
    }
    if (spec.Has("resources")) return ReadEqualPlaces(spec, out);
    spec.ForEachEntry("reservations", [&](std::string_view name, Fields& place) {
      if (out.places.size() < kMaxReservedPlaces) return ReadPlace(place, name, out);
      spec.Fail("reservations", fmt::format("at most {} are allowed", kMaxReservedPlaces));
    });
    if (out.places.empty() && spec.ok()) spec.Fail("reservations", "reserves nothing");
  });
  if (object.ok()) NoteUnread(object, out);
  std::sort(out.places.begin(), out.places.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  object.Map("status", [&](Fields& status) { ReadConditions(status, out.conditions); });
}

template void ReadFields(FieldReader&, ResourceReservation&);
template void ReadFields(JsonFields&, ResourceReservation&);
template void ReadFields(ProtoFields&, ResourceReservation&);

}  // namespace knx::k8s
