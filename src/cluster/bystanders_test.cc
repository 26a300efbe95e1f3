#include "cluster/bystanders.h"

#include <gtest/gtest.h>

namespace knx::cluster {
namespace {

k8s::Service ServiceNamed(const std::string& name, const std::string& app) {
  k8s::Service service;
  service.meta.namespace_ = "shop";
  service.meta.name = name;
  service.selector = {{"app", app}};
  return service;
}

TEST(Bystanders, KeepsWhatWasLastSaidAndCountsChanges) {
  Bystanders bystanders;
  bystanders.Upsert(ServiceNamed("web", "a"));
  bystanders.Upsert(ServiceNamed("web", "a"));
  EXPECT_EQ(bystanders.services().generation, 1u) << "the same again is no change";
  bystanders.Upsert(ServiceNamed("web", "b"));
  EXPECT_EQ(bystanders.services().generation, 2u);
  ASSERT_EQ(bystanders.services().by_name.size(), 1u);
  EXPECT_EQ(bystanders.services().by_name.begin()->second.selector[0].second, "b");
  bystanders.Remove(ServiceNamed("other", "b"));
  EXPECT_EQ(bystanders.services().generation, 2u) << "what is not there cannot go";
  bystanders.Remove(ServiceNamed("web", "whatever it said"));
  EXPECT_EQ(bystanders.services().generation, 3u);
  EXPECT_TRUE(bystanders.services().by_name.empty());
}

TEST(Bystanders, WorkloadsOfDifferentKindsMayHaveOneName) {
  Bystanders bystanders;
  k8s::Workload workload;
  workload.meta.namespace_ = "shop";
  workload.meta.name = "web";
  workload.kind = k8s::WorkloadKind::kReplicaSet;
  bystanders.Upsert(workload);
  workload.kind = k8s::WorkloadKind::kStatefulSet;
  bystanders.Upsert(workload);
  EXPECT_EQ(bystanders.workloads(k8s::WorkloadKind::kReplicaSet).by_name.size(), 1u);
  EXPECT_EQ(bystanders.workloads(k8s::WorkloadKind::kStatefulSet).by_name.size(), 1u);
}

TEST(Bystanders, FindsANamespaceByItsName) {
  Bystanders bystanders;
  k8s::Namespace shop;
  shop.meta.name = "shop";
  shop.meta.labels = {{"team", "blue"}};
  bystanders.Upsert(shop);
  ASSERT_NE(bystanders.FindNamespace("shop"), nullptr);
  EXPECT_EQ(bystanders.FindNamespace("shop")->meta.labels[0].second, "blue");
  EXPECT_EQ(bystanders.FindNamespace("nowhere"), nullptr);
}

}  // namespace
}  // namespace knx::cluster
