#include <gtest/gtest.h>

#include <algorithm>

#include "k8s/kind_name.h"
#include "k8s/read_json.h"
#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

Result<std::vector<ObjectAt>> ReadReservation(const std::string& spec) {
  return ReadManifests(
      "{apiVersion: scheduling.kubenexus.io/v1alpha1, kind: ResourceReservation, metadata: {name: "
      "r, "
      "namespace: ml}, spec: " +
          spec + "}",
      "f.yaml");
}

ResourceReservation ReservationFrom(const std::string& spec) {
  auto read = ReadReservation(spec);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  if (!read.ok()) return {};
  EXPECT_EQ(KindName(read->front().object), "ResourceReservation");
  return std::get<ResourceReservation>(read->front().object);
}

ResourceList Amounts(std::int64_t cpu, std::int64_t memory) {
  return {{"cpu", Quantity::FromUnits(cpu)}, {"memory", Quantity::FromUnits(memory)}};
}

TEST(ReadResourceReservation, SoManyEqualPlaces) {
  const auto one = ReservationFrom(
      "{podGroupName: spark-pi, resources: {cpu: '4', memory: 8Gi}, duration: 10m, owner: ann}");
  EXPECT_EQ(one.pod_group, "spark-pi");
  EXPECT_EQ(one.owner, "ann");
  EXPECT_EQ(one.duration, Duration::Minutes(10));
  EXPECT_EQ(one.start, std::nullopt);
  EXPECT_EQ(one.places,
            (std::vector<ReservedPlace>{{"00000", "", Amounts(4, std::int64_t{8} << 30)}}));
  EXPECT_EQ(ReservationFrom("{resources: {cpu: 1}, count: 3, start: '2026-01-02T03:04:05Z'}")
                .places.size(),
            3U);
}

TEST(ReadResourceReservation, WhatNobodyReadsIsNoted) {
  const std::vector<std::string> unread = {"minutes", "podGroup"};
  auto read = ReservationFrom("{resources: {cpu: 1}, podGroup: a, count: 2, minutes: {m: 5}}");
  std::sort(read.unread.begin(), read.unread.end());
  EXPECT_EQ(read.unread, unread);
  EXPECT_TRUE(ReservationFrom("{resources: {cpu: 1}, podGroupName: a}").unread.empty());
  EXPECT_EQ(
      ReservationFrom("{reservations: {b: {cpu: 1, node: n1}, a: {nodeName: n1, cpu: 1}}}").unread,
      std::vector<std::string>{"reservations.a.nodeName"});
}

TEST(ReadResourceReservation, DevicesMayBeCalledGpu) {
  const auto read = ReservationFrom("{resources: {gpu: 2, example.com/card: 1}}");
  EXPECT_EQ(read.places[0].resources, (ResourceList{{"example.com/card", Quantity::FromUnits(1)},
                                                    {"nvidia.com/gpu", Quantity::FromUnits(2)}}));
}

TEST(ReadResourceReservation, PlacesByName) {
  const auto read = ReservationFrom(
      "{reservations: {b: {node: n2, cpu: 500m, memory: 1Gi, gpu: '2'}, a: {node: '', cpu: '1'}}}");
  ASSERT_EQ(read.places.size(), 2U);
  EXPECT_EQ(read.places[0].name, "a");
  EXPECT_EQ(read.places[0].node, "");
  EXPECT_EQ(read.places[1], (ReservedPlace{"b",
                                           "n2",
                                           {{"cpu", Quantity::FromMilli(500)},
                                            {"memory", Quantity::FromUnits(1 << 30)},
                                            {"nvidia.com/gpu", Quantity::FromUnits(2)}}}));
}

TEST(ReadResourceReservation, WhatItCannotBeIsRefusedByField) {
  struct Case {
    std::string spec, want;
  };
  const std::vector<Case> cases = {
      {"{}", "spec.resources: either this or reservations says what is reserved"},
      {"{resources: {cpu: 1}, reservations: {a: {cpu: 1}}}", "spec.resources: either this"},
      {"{resources: {}}", "spec.resources: reserves nothing"},
      {"{resources: {cpu: '0'}}", "spec.resources: reserves nothing"},
      {"{resources: {cpu: '-1'}}", "spec.resources"},
      {"{resources: {gpus: 1}}", "spec.resources: gpus: no resource"},
      {"{resources: {gpu: 1, nvidia.com/gpu: 2}}", "spec.resources: nvidia.com/gpu: is said twice"},
      {"{resources: {cpu: 1}, count: 0}", "spec.count"},
      {"{resources: {cpu: 1}, count: 10001}", "spec.count"},
      {"{resources: {cpu: 1}, duration: soon}", "spec.duration: must be a time above 0"},
      {"{resources: {cpu: 1}, duration: 0s}", "spec.duration: must be a time above 0"},
      {"{resources: {cpu: 1}, start: tomorrow}", "spec.start"},
      {"{reservations: {}}", "spec.reservations: reserves nothing"},
      {"{reservations: {a: {node: n1}}}", "reserves nothing"},
      {"{reservations: {a: {cpu: '-1'}}}", "must not be negative"},
      {"{reservations: {a: {cpu: much}}}", "cpu"},
      {"{reservations: [a]}", "spec.reservations"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    const auto read = ReadReservation(c.spec);
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find(c.want), std::string::npos) << read.error().message;
  }
}

TEST(ReadResourceReservation, ByTheFastPathTooWithItsStatus) {
  const auto object = ReadJsonFast(
      R"({"apiVersion":"scheduling.kubenexus.io/v1alpha1","kind":"ResourceReservation",)"
      R"("metadata":{"name":"r","namespace":"default","uid":"1"},)"
      R"("spec":{"resources":{"cpu":"2"},"duration":"1h"},)"
      R"("status":{"conditions":[{"type":"ReservationActive","status":"False","reason":"Expired"}]}})");
  ASSERT_TRUE(object);
  const auto& read = std::get<ResourceReservation>(*object);
  ASSERT_EQ(read.conditions.size(), 1U);
  EXPECT_EQ(read.conditions[0].reason, "Expired");
  EXPECT_FALSE(ReadJsonFast(
      R"({"apiVersion":"scheduling.kubenexus.io/v1alpha1","kind":"ResourceReservation",)"
      R"("metadata":{"name":"r"},"spec":{"resources":{"cpu":"2"},"duration":"1 day"}})"));
}

}  // namespace
}  // namespace knx::k8s
