"""ResourceReservations on a real API server: `make test-live LIVE=reservations`."""

import pathlib
import signal
import sys
import tempfile
import unittest
import urllib.error

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

# pylint: disable=wrong-import-position
import pod_group_kinds as kinds  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from live_test import EVENTS, PODS, Scheduler, condition, node, pod  # noqa: E402

CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins: {multiPoint: {enabled: [{name: Coscheduling}, {name: ResourceReservation}]}}
"""


def reservation(name, **spec):
    return {"apiVersion": "scheduling.kubenexus.io/v1alpha1", "kind": "ResourceReservation",
            "metadata": {"name": name}, "spec": spec}


def user(name, app, cpu):
    made = pod(name, cpu=cpu)
    made["metadata"]["labels"] = {"scheduling.kubenexus.io/app-id": app}
    return made


class Reservations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(
            ControlPlane("--without=kube-scheduler,kube-controller-manager"))
        kinds.define_reservations(cls.plane)
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.configuration = folder / "config.yaml"
        cls.configuration.write_text(CONFIGURATION, "ascii")

    def setUp(self):
        self.plane.create("/api/v1/nodes", node("n", cpu="4"))

    def tearDown(self):
        for path in (PODS, kinds.RESERVATIONS, "/api/v1/nodes"):
            self.plane.request("DELETE", path + "?gracePeriodSeconds=0")
        self.plane.wait_for(PODS, lambda got: not got["items"])

    def scheduler(self):
        return Scheduler(self.plane, f"--config={self.configuration}")

    def wait_for_reason(self, name, reason):
        def says(got):
            return condition({"status": got.get("status", {})},
                             "ReservationActive").get("reason") == reason

        return self.plane.wait_for(f"{kinds.RESERVATIONS}/{name}", says)

    def wait_for_bound(self, name):
        self.plane.wait_for(f"{PODS}/{name}", lambda got: got["spec"].get("nodeName"))

    def wait_for_refusal(self, name):
        self.plane.wait_for(f"{PODS}/{name}", lambda got: "Insufficient cpu" in condition(
            got).get("message", ""))

    def test_room_is_held_used_and_given_back(self):
        self.plane.create(kinds.RESERVATIONS,
                          reservation("app", resources={"cpu": "3"}, duration="1h"))
        with self.scheduler() as killed:
            held = self.wait_for_reason("app", "Held")
            self.assertEqual(condition(held, "ReservationActive")["status"], "True")
            self.plane.create(PODS, pod("other", cpu="2"))
            self.wait_for_refusal("other")
            killed.end(signal.SIGKILL)
        with self.scheduler():
            self.plane.create(PODS, pod("another", cpu="2"))
            self.wait_for_refusal("another")
            self.plane.create(PODS, user("mine", "app", "3"))
            self.wait_for_bound("mine")
            self.wait_for_reason("app", "Used")
            self.plane.request("DELETE", f"{PODS}/mine?gracePeriodSeconds=0")
            self.wait_for_bound("other")

    def test_it_ends_with_its_time_or_its_object(self):
        with self.scheduler():
            self.plane.create(kinds.RESERVATIONS,
                              reservation("short", resources={"cpu": "3"}, duration="15s"))
            self.wait_for_reason("short", "Held")
            self.plane.create(PODS, pod("first", cpu="2"))
            self.wait_for_reason("short", "Expired")
            self.wait_for_bound("first")
            self.plane.create(kinds.RESERVATIONS, reservation(
                "plan", reservations={"a": {"node": "n", "cpu": "2", "memory": "1Gi"}}))
            self.wait_for_reason("plan", "Held")
            self.plane.create(PODS, pod("second", cpu="2"))
            self.wait_for_refusal("second")
            self.plane.request("DELETE", f"{kinds.RESERVATIONS}/plan")
            self.wait_for_bound("second")

    def test_what_the_schema_lets_through_and_means_nothing_is_said_on_the_object(self):
        with self.scheduler():
            made = self.plane.create(kinds.RESERVATIONS, reservation(
                "never", resources={"cpu": "1"}, duration="0s"))
            events = self.plane.wait_for(EVENTS, lambda got: any(
                one["regarding"].get("uid") == made["metadata"]["uid"] for one in got["items"]))
        said = [one for one in events["items"] if one["regarding"]["kind"] == made["kind"]]
        self.assertEqual([(one["type"], one["reason"], one["note"]) for one in said],
                         [("Warning", "NotUnderstood",
                           "not heeded, because it cannot be understood: spec.duration: must be a "
                           "time above 0 like 90s, 10m or 2h30m")])

    def test_the_schema_refuses_what_cannot_be(self):
        for spec in ({}, {"resources": {}}, {"resources": {"cpu": "-1"}},
                     {"resources": {"cpu": "1"}, "count": 0},
                     {"resources": {"cpu": "1"}, "duration": "soon"},
                     {"resources": {"cpu": "1"}, "reservations": {"a": {"cpu": "1"}}}):
            with self.subTest(spec=spec), self.assertRaises(urllib.error.HTTPError) as refused:
                self.plane.create(kinds.RESERVATIONS, reservation("bad", **spec))
            self.assertEqual(refused.exception.code, 422)


if __name__ == "__main__":
    unittest.main(verbosity=2)
