"""Gangs of PodGroup objects, on a real API server: `make test-live LIVE=gangs`."""

import pathlib
import signal
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

# pylint: disable=wrong-import-position
import pod_group_kinds as kinds  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from live_test import EVENTS, PODS, Scheduler, condition, node, pod  # noqa: E402

SIGS = "scheduling.x-k8s.io"
LABEL = f"{SIGS}/pod-group"
CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}
"""


def labels(gang, minimum):
    ours = "pod-group.scheduling.kubenexus.io"
    return {f"{ours}/name": gang, f"{ours}/min-available": str(minimum)}


def member(name, group):
    """Of a PodGroup of kubernetes-sigs."""
    made = pod(name)
    made["metadata"]["labels"] = {LABEL: group}
    return made


class Gangs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane(
            "--without=kube-scheduler,kube-controller-manager", *kinds.API_SERVER_FLAGS))
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.configuration = folder / "config.yaml"
        cls.configuration.write_text(CONFIGURATION, "ascii")
        cls.slow_configuration = folder / "slow.yaml"
        cls.slow_configuration.write_text(
            CONFIGURATION + "clientConnection: {qps: 4, burst: 1}\n", "ascii")

    def setUp(self):
        self.plane.create("/api/v1/nodes", node("n", cpu="8"))

    def tearDown(self):
        for path in (PODS, EVENTS, kinds.NATIVE, "/api/v1/nodes"):
            self.plane.request("DELETE", path + "?gracePeriodSeconds=0")
        self.plane.wait_for(PODS, lambda got: not got["items"])

    def scheduler(self, configuration=None):
        return Scheduler(self.plane, f"--config={configuration or self.configuration}")

    def wait_for_message(self, name, text):
        self.plane.wait_for(f"{PODS}/{name}",
                            lambda got: text in condition(got).get("message", ""))

    def wait_for_bound(self, count):
        self.plane.wait_for(PODS, lambda got: count == sum(
            1 for each in got["items"] if each["spec"].get("nodeName")))

    def test_pods_wait_for_their_native_pod_group_and_start_with_it(self):
        for i in range(3):
            self.plane.create(PODS, pod(f"w{i}", schedulingGroup={"podGroupName": "train"}))
        with self.scheduler():
            self.wait_for_message("w0", "waiting for pod group default/train: the PodGroup object "
                                        "(scheduling.k8s.io) does not exist")
            self.wait_for_bound(0)
            # As `kubectl describe pod` and `kubectl get events --field-selector` ask for them.
            said = self.plane.wait_for(
                "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dw0",
                lambda got: got["items"])["items"]
            self.assertEqual({(each["involvedObject"]["name"], each["reason"]) for each in said},
                             {("w0", "FailedScheduling")})
            self.assertIn("waiting for pod group default/train", said[0]["message"])
            self.plane.create(kinds.NATIVE, kinds.native("train", 3))
            self.wait_for_bound(3)

    def group_condition(self, name):
        said = self.plane.get(f"{kinds.NATIVE}/{name}").get("status", {}).get("conditions", [])
        return next((c for c in said if c["type"] == "PodGroupScheduled"), {})

    def wait_for_group(self, name, status):
        def says(got):
            said = got.get("status", {}).get("conditions", [])
            return any(c["type"] == "PodGroupScheduled" and c["status"] == status for c in said)
        self.plane.wait_for(f"{kinds.NATIVE}/{name}", says)
        return self.group_condition(name)

    def test_a_native_pod_group_says_how_it_stands(self):
        self.plane.create(kinds.NATIVE, kinds.native("fits", 2))
        self.plane.create(kinds.NATIVE, kinds.native("large", 3))
        # Somebody else says something of it, too.
        self.plane.request("PATCH", f"{kinds.NATIVE}/large/status", {"status": {"conditions": [
            {"type": "Other", "status": "True", "reason": "Other", "message": "",
             "lastTransitionTime": "2020-01-01T00:00:00Z"}]}}, "application/merge-patch+json")
        for i in range(2):
            self.plane.create(PODS, pod(f"f{i}", schedulingGroup={"podGroupName": "fits"}))
        for i in range(3):
            self.plane.create(PODS, pod(f"l{i}", "3", schedulingGroup={"podGroupName": "large"}))
        with self.scheduler():
            fits, large = self.wait_for_group("fits", "True"), self.wait_for_group("large", "False")
            self.assertEqual((fits["reason"], fits["message"]), ("Scheduled", ""))
            meta = self.plane.get(f"{kinds.NATIVE}/fits")["metadata"]
            self.assertEqual(fits.get("observedGeneration", 0), meta.get("generation", 0))
            self.assertEqual(large["reason"], "Unschedulable")
            self.assertIn("pod group default/large needs 3 pods at once, 2 fit", large["message"])
            self.plane.create("/api/v1/nodes", node("more", cpu="8"))
            self.assertEqual(self.wait_for_group("large", "True")["reason"], "Scheduled")
            self.wait_for_bound(5)
        both = self.plane.get(f"{kinds.NATIVE}/large")
        self.assertEqual({c["type"] for c in both["status"]["conditions"]},
                         {"Other", "PodGroupScheduled"})
        # Another scheduler finds nothing to write.
        with self.scheduler():
            self.plane.create(PODS, pod("last"))
            self.wait_for_bound(6)
        self.assertEqual(self.plane.get(f"{kinds.NATIVE}/large")["metadata"]["resourceVersion"],
                         both["metadata"]["resourceVersion"])

    def test_a_kind_that_appears_while_it_runs_is_followed(self):
        for i in range(2):
            self.plane.create(PODS, member(f"m{i}", "team"))
        with self.scheduler():
            self.wait_for_message("m0", "the PodGroup object (scheduling.x-k8s.io) does not exist")
            kinds.define(self.plane, SIGS, "v1alpha1")
            self.addCleanup(kinds.remove, self.plane, SIGS)
            self.plane.create(kinds.SIGS, kinds.sigs("team", 3))
            # The server is asked for its kinds every 30 seconds, and what is missing is said 10
            # seconds later.
            self.wait_for_message("m0", "it has 2 pods, needs at least 3")
            self.plane.request("PATCH", f"{kinds.SIGS}/team", {"spec": {"minMember": 2}},
                               "application/merge-patch+json")
            self.wait_for_bound(2)

    def test_a_gang_is_completed_after_a_kill_between_its_first_and_last_binding(self):
        for i in range(8):
            made = pod(f"m{i}", cpu="1")
            made["metadata"]["labels"] = labels("train", 8)
            self.plane.create(PODS, made)
        with self.scheduler(self.slow_configuration) as killed:
            self.plane.wait_for(PODS, lambda got: sum(
                1 for each in got["items"] if each["spec"].get("nodeName")) >= 2)
            killed.end(signal.SIGKILL)
        bound = [each for each in self.plane.get(PODS)["items"] if each["spec"].get("nodeName")]
        self.assertIn(len(bound), range(2, 8), "killed between the first binding and the last")
        # Listed before the members, and would fit.
        for i in range(4):
            self.plane.create(PODS, pod(f"a-stranger-{i}", cpu="1"))
        with self.scheduler():
            for i in range(8):
                self.plane.wait_for(f"{PODS}/m{i}", lambda got: got["spec"].get("nodeName"))
            self.wait_for_message("a-stranger-0", "Insufficient cpu")
        strangers = [self.plane.get(f"{PODS}/a-stranger-{i}") for i in range(4)]
        self.assertFalse([each for each in strangers if each["spec"].get("nodeName")],
                         "what is incomplete is completed first")

    def test_who_says_two_things_is_warned_of(self):
        self.plane.create(kinds.NATIVE, kinds.native("one", 1))
        made = pod("p", schedulingGroup={"podGroupName": "one"})
        made["metadata"]["labels"] = {LABEL: "other"}
        self.plane.create(PODS, made)
        with self.scheduler():
            self.wait_for_bound(1)
            self.plane.wait_for(EVENTS, lambda got: any(
                each["reason"] == "PodGroupConflict" for each in got["items"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
