#include "k8s/other_kinds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

struct Type {
  std::string_view api_version, kind;
};

// How many objects were skipped; -1: it was refused.
std::ptrdiff_t SkippedOf(const Type& type) {
  std::vector<SkippedObject> skipped;
  const auto read =
      ReadManifests(fmt::format("{{apiVersion: {}, kind: {}}}", type.api_version, type.kind),
                    "f.yaml", {.skipped = &skipped});
  return read.ok() ? std::ssize(skipped) : -1;
}

TEST(OtherKinds, AreThoseOfKubernetesAndOfExtensions) {
  for (const Type& type : std::initializer_list<Type>{
           {"apps/v1", "DaemonSet"},
           {"batch/v1", "CronJob"},
           {"v1", "Secret"},
           {"autoscaling/v2", "HorizontalPodAutoscaler"},
           {"networking.k8s.io/v1", "Ingress"},
           {"gateway.networking.k8s.io/v1", "HTTPRoute"},
           {"kueue.x-k8s.io/v1beta1", "ClusterQueue"},
           {"kueue.x-k8s.io/v1beta1", "Workload"},
           {"scheduling.k8s.io/v1alpha2", "Workload"},
           {"scheduling.run.ai/v2alpha2", "PodGroup"},
       }) {
    EXPECT_EQ(SkippedOf(type), 1) << type.kind;
  }
}

TEST(OtherKinds, AreNotThoseThatNobodyKnows) {
  for (const Type& type : std::initializer_list<Type>{
           {"apps/v1", "Deploymnet"},
           {"v1", "Deployment"},
           {"app/v1", "Deployment"},
           {"apps/v1beta1", "Deployment"},
           {"x/v1", "Foo"},
           {"v1", "Configmap"},
           {"example.com/v1", "Deployment"},
           {"kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"},
       }) {
    EXPECT_EQ(SkippedOf(type), -1) << type.kind;
  }
}

}  // namespace
}  // namespace knx::k8s
