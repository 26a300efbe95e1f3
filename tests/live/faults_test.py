"""What can go wrong around kubenexus-scheduler: pods are bound all the same."""

import collections
import contextlib
import datetime
import http
import os
import pathlib
import re
import signal
import sys
import tempfile
import unittest
import urllib.error

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

import accounts  # noqa: E402
from audit import audited  # noqa: E402
from cable import Cable  # noqa: E402
from leader_test import LEASE, LONG, Replica, configuration  # noqa: E402
from live_test import EVENTS, PODS, Scheduler, condition, node, pod  # noqa: E402
from pages_test import CONFIGURATION, Serving  # noqa: E402
from progress import wait_for_count  # noqa: E402
from running import free_port  # noqa: E402
from shifted_clock import ShiftedClock  # noqa: E402

WITHOUT_OTHERS = "--without=kube-scheduler,kube-controller-manager"


class Faults(unittest.TestCase):
    def setUp(self):
        self._stack = contextlib.ExitStack()
        self.addCleanup(self._stack.close)

    def start(self, *flags):
        plane, self.audit = self._stack.enter_context(audited(WITHOUT_OTHERS, *flags))
        for i in range(5):
            plane.create("/api/v1/nodes", node(f"n{i}", cpu="100", pods="500"))
        return plane

    def through_a_cable(self, plane):
        cable = self._stack.enter_context(Cable(plane))
        self._stack.enter_context(Scheduler(plane, kubeconfig=cable.kubeconfig))
        return cable

    def expect_bound(self, plane, count):
        """So many pods, each of them once."""
        wait_for_count(lambda: len(places(plane)), count, pause=0.2)
        self.assertEqual(self.audit.bound_otherwise(places(plane)), {})

    def test_connections_that_are_cut_again_and_again(self):
        plane = self.start()
        cable = self.through_a_cable(plane)
        for i in range(200):
            plane.create(PODS, pod(f"p{i}", cpu="10m"))
            if i % 10 == 0:
                cable.cut()
        self.expect_bound(plane, 200)

    def test_what_became_of_bindings_is_found_out_before_their_room_is_given_away(self):
        plane, self.audit = self._stack.enter_context(audited(WITHOUT_OTHERS))
        for i in range(20):
            plane.create("/api/v1/nodes", node(f"n{i}", cpu="10"))
        plane.create_many(PODS, [pod(f"p{i}", cpu="1") for i in range(400)])
        cable = self.through_a_cable(plane)

        for bound in (10, 60, 110):
            wait_for_count(lambda: len(places(plane)), bound, pause=0)
            cable.cut()
        self.expect_bound(plane, 200)
        # Who is told to wait was tried when all that is known now was known.
        plane.wait_for(PODS, lambda got: all(
            each["spec"].get("nodeName") or condition(each) for each in got["items"]))
        counts = collections.Counter(places(plane).values())
        self.assertEqual(set(counts.values()), {10}, counts)

    def test_an_api_server_that_is_killed_amid_bindings(self):
        pods = 300
        # The way to it must stay the same.
        plane, audit = self._stack.enter_context(
            audited(WITHOUT_OTHERS, f"--secure-port={free_port()}"))
        plane.create_many("/api/v1/nodes", [node(f"n{i}", cpu="10") for i in range(30)])
        plane.create_many(PODS, [pod(f"p{i}", cpu="1") for i in range(pods)])
        slow = plane.folder / "slow.yaml"
        slow.write_text(CONFIGURATION + "clientConnection: {qps: 100, burst: 10}\n", "ascii")
        self._stack.enter_context(Scheduler(plane, f"--config={slow}"))
        wait_for_count(lambda: len(audit.bindings()), 50, pause=0.01)
        kill_api_server(plane)
        self.assertIn(len(audit.bindings()), range(50, pods), "killed amid bindings")
        plane.start()
        wait_for_count(lambda: len(places(plane)), pods, pause=0.2)
        # A binding may have been stored whose line was not written any more.
        odd = {name: seen for name, seen in audit.bound_otherwise(places(plane)).items() if seen[0]}
        self.assertEqual(odd, {})
        counts = collections.Counter(places(plane).values())
        self.assertEqual(set(counts.values()), {10}, counts)

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
        cable = self._stack.enter_context(Cable(plane))
        daemon = self._stack.enter_context(
            Serving(plane, f"--kubeconfig={cable.kubeconfig}"))
        plane.create(PODS, pod("before"))
        self.expect_bound(plane, 1)
        told = times_told_anew(daemon, plane)
        cable.unplug()
        version = plane.get(PODS)["metadata"]["resourceVersion"]
        plane.request("DELETE", f"{PODS}/before?gracePeriodSeconds=0")
        for i in range(50):
            plane.create(PODS, pod(f"p{i}", cpu="10m"))
        wait_for_count(lambda: is_forgotten(plane, version), True, pause=0.2)
        cable.plug_in()
        self.expect_bound(plane, 50)
        self.assertGreater(times_told_anew(daemon, plane), told)

    def test_a_clock_that_is_set_an_hour_forward_and_back(self):
        folder = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        clock = ShiftedClock(folder)
        config = folder / "config.yaml"
        config.write_text(configuration(LONG), "ascii")
        plane = self.start()
        with mock_environment(clock.environment()):
            leader = self._stack.enter_context(Replica(plane, config))
        wait_for_count(lambda: leader.leads, True, pause=0.1)
        # The right time is known to it.
        other = self._stack.enter_context(
            Replica(plane, config, accounts.kubeconfig(plane, "other")))
        for number, seconds in enumerate((0, 3600, -3600, 0)):
            clock.set(seconds)
            for i in range(50):
                plane.create(PODS, pod(f"p{number}-{i}", cpu="10m"))
            self.expect_bound(plane, 50 * (number + 1))
            # It does see what is shifted, where it says when something was.
            plane.wait_for(EVENTS, lambda got, of=f"p{number}-", by=seconds: 50 == sum(
                is_shifted(each["eventTime"], by) for each in got["items"]
                if each["regarding"]["name"].startswith(of)))
            plane.wait_for(LEASE, lambda got, by=seconds: is_shifted(got["spec"]["renewTime"], by))
        self.assertEqual(plane.get(LEASE)["spec"]["leaseTransitions"], 0)
        self.assertEqual(len(leader.said("] \"Leads\" ")), 1)
        self.assertFalse(other.leads)
        self.assertEqual(leader.end(signal.SIGTERM), 0)
        plane.create(PODS, pod("last", cpu="10m"))
        self.expect_bound(plane, 201)
        self.assertEqual(self.audit.writers(accounts.USER),
                         [accounts.credential_in(accounts.kubeconfig(plane, name))
                          for name in (accounts.NAME, "other")])


def places(plane):
    return {p["metadata"]["name"]: p["spec"]["nodeName"]
            for p in plane.get(PODS)["items"] if p["spec"].get("nodeName")}


def kill_api_server(plane):
    """The control plane ends with it, and can be started again."""
    def component(pid):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1]
    (server,) = [pid for pid in plane.children() if component(pid) == b"kube-apiserver"]
    os.kill(server, signal.SIGKILL)
    plane.process.wait(timeout=60)
    plane.stop()


def times_told_anew(daemon, plane):
    """How often the daemon let itself be told of all pods."""
    status, text = daemon.get("/metrics", (plane.folder / "admin.token").read_text("ascii"))
    if status != http.HTTPStatus.OK:
        raise RuntimeError(f"/metrics: {status} {text}")
    found = re.findall(r"^kubenexus_watches_opened_total\{(.*)\} (\d+)$", text, re.M)
    return sum(int(count) for labels, count in found
               if 'resource="pods"' in labels and 'mode="list"' in labels)


def is_forgotten(plane, version):
    """Whether the server cannot say any more how things were."""
    try:
        plane.get(f"{PODS}?limit=1&resourceVersion={version}&resourceVersionMatch=Exact")
        return False
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.GONE:
            raise
        return True


def is_shifted(written, by):
    """Whether a time that was written just now is wrong by as many seconds, more or less."""
    ahead = datetime.datetime.fromisoformat(written) - datetime.datetime.now(datetime.timezone.utc)
    return abs(ahead.total_seconds() - by) < 600


@contextlib.contextmanager
def mock_environment(values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
