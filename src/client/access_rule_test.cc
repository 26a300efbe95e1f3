#include "client/access_rule.h"

#include <gtest/gtest.h>

namespace knx::client {
namespace {

TEST(NotAllowed, NamesTheRuleThatIsMissing) {
  struct Case {
    std::string_view method, path, want;
  };
  const Case cases[] = {
      {"GET", "/api/v1/nodes?limit=500&fieldSelector=a%3Db",
       "not allowed to list nodes: the ClusterRole needs apiGroups: [\"\"], resources: [nodes], "
       "verbs: [list, watch]"},
      {"GET", "/api/v1/nodes?allowWatchBookmarks=true&watch=true",
       "not allowed to watch nodes: the ClusterRole needs apiGroups: [\"\"], resources: [nodes], "
       "verbs: [list, watch]"},
      {"GET", "/api/v1/namespaces",
       "not allowed to list namespaces: the ClusterRole needs apiGroups: [\"\"], resources: "
       "[namespaces], verbs: [list, watch]"},
      {"GET", "/api/v1/namespaces/a",
       "not allowed to get namespaces: the ClusterRole needs apiGroups: [\"\"], resources: "
       "[namespaces], verbs: [get]"},
      {"POST", "/api/v1/namespaces/a/pods/b/binding",
       "not allowed to create pods/binding: the ClusterRole needs apiGroups: [\"\"], resources: "
       "[pods/binding], verbs: [create]"},
      {"PATCH", "/api/v1/namespaces/a/pods/b/status",
       "not allowed to patch pods/status: the ClusterRole needs apiGroups: [\"\"], resources: "
       "[pods/status], verbs: [patch]"},
      {"DELETE", "/api/v1/namespaces/a/pods/b",
       "not allowed to delete pods: the ClusterRole needs apiGroups: [\"\"], resources: [pods], "
       "verbs: [delete]"},
      {"POST", "/apis/events.k8s.io/v1/namespaces/a/events",
       "not allowed to create events: the ClusterRole needs apiGroups: [\"events.k8s.io\"], "
       "resources: [events], verbs: [create]"},
      {"PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b",
       "not allowed to update leases: the ClusterRole needs apiGroups: [\"coordination.k8s.io\"], "
       "resources: [leases], verbs: [update]"},
      {"GET", "/version?timeout=1s",
       "not allowed to get /version: the ClusterRole needs nonResourceURLs: [\"/version\"], "
       "verbs: [get]"},
      {"GET", "/apis/apps/v1",
       "not allowed to get /apis/apps/v1: the ClusterRole needs nonResourceURLs: "
       "[\"/apis/apps/v1\"], verbs: [get]"},
  };
  for (const Case& c : cases) EXPECT_EQ(NotAllowed(c.method, c.path), c.want);
}

TEST(NotAllowed, OfALeaseIsARuleOfItsNamespace) {
  EXPECT_EQ(NotAllowedLease("GET", "kube-system", "me"),
            "not allowed to get leases in kube-system: the Role there needs apiGroups: "
            "[\"coordination.k8s.io\"], resources: [leases], resourceNames: [me], verbs: [get, "
            "update]");
  EXPECT_EQ(NotAllowedLease("PUT", "kube-system", "me"),
            "not allowed to update leases in kube-system: the Role there needs apiGroups: "
            "[\"coordination.k8s.io\"], resources: [leases], resourceNames: [me], verbs: [get, "
            "update]");
  EXPECT_EQ(NotAllowedLease("POST", "kube-system", "me"),
            "not allowed to create leases in kube-system: the Role there needs apiGroups: "
            "[\"coordination.k8s.io\"], resources: [leases], verbs: [create]");
}

}  // namespace
}  // namespace knx::client
