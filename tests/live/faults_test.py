"""What can go wrong around kubenexus-scheduler: pods are bound all the same."""

import collections
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

from cable import Cable  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from live_test import PODS, Scheduler, node, pod  # noqa: E402

WITHOUT_OTHERS = "--without=kube-scheduler,kube-controller-manager"


class Faults(unittest.TestCase):
    def setUp(self):
        self._stack = contextlib.ExitStack()
        self.addCleanup(self._stack.close)

    def start(self, *flags):
        plane = self._stack.enter_context(ControlPlane(WITHOUT_OTHERS, *flags))
        for i in range(5):
            plane.create("/api/v1/nodes", node(f"n{i}", cpu="100", pods="500"))
        return plane

    def through_a_cable(self, plane):
        cable = self._stack.enter_context(Cable(plane))
        self._stack.enter_context(Scheduler(plane, kubeconfig=cable.kubeconfig))
        return cable

    def expect_bound(self, plane, count, seconds=60):
        def all_bound(pods):
            return sum(1 for p in pods["items"] if p["spec"].get("nodeName")) == count
        plane.wait_for(PODS, all_bound, timeout=seconds)

    def test_connections_that_are_cut_again_and_again(self):
        plane = self.start()
        cable = self.through_a_cable(plane)
        for i in range(200):
            plane.create(PODS, pod(f"p{i}", cpu="10m"))
            if i % 10 == 0:
                cable.cut()
        self.expect_bound(plane, 200)

    def test_what_became_of_bindings_is_found_out_before_their_room_is_given_away(self):
        plane = self._stack.enter_context(ControlPlane(WITHOUT_OTHERS))
        for i in range(20):
            plane.create("/api/v1/nodes", node(f"n{i}", cpu="10"))
        plane.create_many(PODS, [pod(f"p{i}", cpu="1") for i in range(400)])
        cable = self.through_a_cable(plane)

        def on_nodes():
            specs = (each["spec"] for each in plane.get(PODS)["items"])
            return collections.Counter(s["nodeName"] for s in specs if s.get("nodeName"))

        for bound in (10, 60, 110):
            while on_nodes().total() < bound:
                pass
            cable.cut()
        self.expect_bound(plane, 200)
        time.sleep(2)
        self.assertEqual(set(on_nodes().values()), {10}, on_nodes())

    def test_a_server_that_sends_its_clients_away(self):
        plane = self.start("--kube-apiserver-flag=--goaway-chance=0.02")
        self._stack.enter_context(Scheduler(plane))
        for i in range(300):
            plane.create(PODS, pod(f"p{i}", cpu="10m"))
        self.expect_bound(plane, 300)

    def test_a_server_that_takes_few_requests_at_a_time_over_a_connection(self):
        plane = self.start("--kube-apiserver-flag=--http2-max-streams-per-connection=10")
        self._stack.enter_context(Scheduler(plane))
        for i in range(100):
            plane.create(PODS, pod(f"p{i}", cpu="10m"))
        self.expect_bound(plane, 100)

    def test_history_that_is_compacted_while_nobody_could_look(self):
        plane = self.start("--kube-apiserver-flag=--watch-cache=false",
                           "--kube-apiserver-flag=--etcd-compaction-interval=1s")
        cable = self.through_a_cable(plane)
        plane.create(PODS, pod("before"))
        self.expect_bound(plane, 1)
        cable.unplug()
        plane.request("DELETE", f"{PODS}/before?gracePeriodSeconds=0")
        for i in range(50):
            plane.create(PODS, pod(f"p{i}", cpu="10m"))
        time.sleep(4)
        cable.plug_in()
        self.expect_bound(plane, 50)

    def test_a_clock_that_is_set_an_hour_forward_and_back(self):
        folder = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        shift = folder / "shift"
        shift.write_text("0", "ascii")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "clock.so",
                        ROOT / "tests" / "live" / "clock_shift.c"], check=True)
        plane = self.start()
        with mock_environment(LD_PRELOAD=str(folder / "clock.so"), CLOCK_SHIFT_FILE=str(shift)):
            self._stack.enter_context(Scheduler(plane))
        for number, seconds in enumerate((0, 3600, -3600, 0)):
            shift.write_text(str(seconds), "ascii")
            for i in range(50):
                plane.create(PODS, pod(f"p{number}-{i}", cpu="10m"))
            self.expect_bound(plane, 50 * (number + 1), seconds=20)


@contextlib.contextmanager
def mock_environment(**values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
