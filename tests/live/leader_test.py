"""Several replicas of kubenexus-scheduler, and configurations that change: `make test-live`."""

import collections
import contextlib
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error

import live_test
from live_test import EVENTS, PODS, PROGRAM, node, pod

import accounts
from audit import audited

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LEASE = f"{LEASES}/{accounts.NAME}"
SHORT = {"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"}
LONG = {"leaseDuration": "60s", "renewDeadline": "40s", "retryPeriod": "1s"}


def configuration(election, *profiles, extra=""):
    lines = ["apiVersion: kubescheduler.config.k8s.io/v1", "kind: KubeSchedulerConfiguration"]
    lease = {"resourceName": accounts.NAME, "resourceNamespace": "kube-system"}
    lines += ["leaderElection:"] + [f"  {key}: {value}"
                                    for key, value in {**lease, **election}.items()]
    if profiles:
        lines += ["profiles:"] + [f"  - schedulerName: {name}" for name in profiles]
    return "\n".join([*lines, extra, ""])


class Replica(live_test.Scheduler):
    def __init__(self, plane, config, kubeconfig=None):
        super().__init__(plane, "--leader-elect=true", f"--config={config}", kubeconfig=kubeconfig)

    @property
    def leads(self):
        return bool(self.said("] \"Leads\" "))


class Leader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane, cls.audit = cls.enterClassContext(
            audited("--without=kube-scheduler,kube-controller-manager"))
        cls.one, cls.another = (accounts.kubeconfig(cls.plane, name) for name in ("a", "b"))
        cls.of_one, cls.of_another = map(accounts.credential_in, (cls.one, cls.another))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.plane.create("/api/v1/nodes", node("n", cpu="64", pods="2000"))
        self.written_before = len(self.audit.writes())

    def tearDown(self):
        for path in (PODS, EVENTS, "/api/v1/nodes"):
            self.plane.request("DELETE", path + "?gracePeriodSeconds=0")
        with contextlib.suppress(urllib.error.HTTPError):
            self.plane.request("DELETE", LEASE)

    def config(self, election, *profiles, **more):
        path = self.folder / "config.yaml"
        path.write_text(configuration(election, *profiles, **more), "utf-8")
        return path

    def wait_until(self, holds, seconds=40):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not come true in time")
            time.sleep(0.05)

    def bound(self):
        return [p for p in self.plane.get(PODS)["items"] if p["spec"].get("nodeName")]

    def create_pods(self, prefix, count, **spec):
        for i in range(count):
            self.plane.create(PODS, pod(f"{prefix}{i}", cpu="1m", **spec))

    def is_bound(self, name):
        return self.plane.get(f"{PODS}/{name}")["spec"].get("nodeName") is not None

    def assert_nobody_wrote_twice(self):
        """One Scheduled event a pod at most; a leader that was killed may not have come to it."""
        events = [e for e in self.plane.get(EVENTS)["items"] if e["reason"] == "Scheduled"]
        counts = collections.Counter(e["regarding"]["name"] for e in events)
        self.assertEqual([name for name, count in counts.items() if count > 1], [])

    def assert_one_wrote_after_the_other(self, *replicas):
        """Not a single write of a leader comes after the first of the next one."""
        self.assertEqual(self.audit.writers(accounts.USER, self.written_before), list(replicas))

    def test_the_other_replica_takes_over_from_a_leader_that_was_killed(self):
        config = self.config(SHORT)
        with Replica(self.plane, config, self.one) as first, \
                Replica(self.plane, config, self.another) as second:
            self.wait_until(lambda: first.leads or second.leads)
            leader, other = (first, second) if first.leads else (second, first)
            replicas = self.of_one, self.of_another
            self.create_pods("a", 100)
            self.wait_until(lambda: len(self.bound()) > 10)
            leader.end(signal.SIGKILL)
            self.create_pods("b", 100)
            self.wait_until(lambda: len(self.bound()) == 200)
            self.assertTrue(other.leads)
            self.assertEqual(self.plane.get(LEASE)["spec"]["leaseTransitions"], 1)
            self.assert_nobody_wrote_twice()
            self.assert_one_wrote_after_the_other(
                *(replicas if leader is first else reversed(replicas)))
            self.assertEqual(other.end(signal.SIGTERM), 0)

    def test_asked_to_end_the_leader_hands_over_at_once(self):
        config = self.config(LONG)
        with Replica(self.plane, config, self.one) as first:
            self.wait_until(lambda: first.leads)
            with Replica(self.plane, config, self.another) as second:
                self.create_pods("a", 50)
                self.wait_until(lambda: len(self.bound()) > 0)
                self.wait_until(lambda: second.said("\"Knows the cluster\""))
                self.wait_until(lambda: second.said(
                    '"Waits for the lease" lease="kube-system/kubenexus-scheduler" heldBy="'
                    + self.plane.get(LEASE)["spec"]["holderIdentity"]))
                self.assertEqual(first.end(signal.SIGTERM), 0)
                self.create_pods("b", 50)
                # Much less than the lease would last.
                self.wait_until(lambda: second.leads, seconds=20)
                self.wait_until(lambda: len(self.bound()) == 100)
                self.assert_nobody_wrote_twice()
                self.assert_one_wrote_after_the_other(self.of_one, self.of_another)

    def test_a_leader_that_was_stopped_for_too_long_writes_nothing_more(self):
        config = self.config(SHORT)
        with Replica(self.plane, config, self.one) as first:
            self.wait_until(lambda: first.leads)
            with Replica(self.plane, config, self.another) as second:
                self.create_pods("a", 20)
                self.wait_until(lambda: len(self.bound()) > 0)
                # With as much on its way as possible.
                self.create_pods("b", 150)
                first.process.send_signal(signal.SIGSTOP)
                self.wait_until(lambda: second.leads)
                self.create_pods("c", 50)
                self.wait_until(lambda: len(self.bound()) == 220)
                first.process.send_signal(signal.SIGCONT)
                self.assertEqual(first.process.wait(timeout=60), 1)
                self.assertEqual(len(first.said("Leader election lost")), 1)
                self.create_pods("d", 1)  # Done after whatever the first had asked for.
                self.wait_until(lambda: len(self.bound()) == 221)
                self.assert_nobody_wrote_twice()
                self.assert_one_wrote_after_the_other(self.of_one, self.of_another)

    def test_a_leader_that_sees_another_holder_ends(self):
        with Replica(self.plane, self.config(LONG)) as only:
            self.wait_until(lambda: only.leads)
            lease = self.plane.get(LEASE)
            self.assertEqual(lease["spec"]["leaseDurationSeconds"], 60)
            self.plane.request("PATCH", LEASE, {"spec": {"holderIdentity": "somebody else"}},
                               content_type="application/merge-patch+json")
            self.assertEqual(only.process.wait(timeout=60), 1)
            self.assertEqual(len(only.said("Leader election lost, nothing more is written\" err=\""
                                           "somebody else holds the lease")), 1)

    def test_what_others_say_about_the_lease_stays(self):
        self.plane.create(LEASES, {"metadata": {"name": accounts.NAME, "labels": {"a": "b"}}})
        with Replica(self.plane, self.config(LONG)) as only:
            self.wait_until(lambda: only.leads)
            self.assertEqual(self.plane.get(LEASE)["metadata"]["labels"], {"a": "b"})
            self.assertEqual(only.end(signal.SIGTERM), 0)
        spec = self.plane.get(LEASE)["spec"]
        self.assertEqual((spec.get("holderIdentity", ""), spec["leaseDurationSeconds"]), ("", 1))

    def kubeconfig(self, user):
        return accounts.write_kubeconfig(self.plane, self.folder / "kubeconfig", user)

    def test_every_right_that_is_missing_is_said_as_a_rule(self):
        kubeconfig = self.kubeconfig("")  # of nobody
        config = self.config(SHORT, extra=f"clientConnection: {{kubeconfig: {kubeconfig}}}")
        with Replica(self.plane, config) as replica:
            self.wait_until(lambda: len(replica.said("] \"A right is missing\" ")) > 20)
            time.sleep(1)
            replica.end(signal.SIGTERM)
            rights = replica.said("] \"A right is missing\" ")
            self.assertFalse(replica.said("Left out lines"))
            for rule in rights + replica.said("Trouble with the lease"):
                self.assertRegex(rule, r"Role (there )?needs (apiGroups|nonResourceURLs): \[.*"
                                       r"verbs: \[[a-z, ]+\]\"$")
            self.assertTrue(replica.said("nonResourceURLs: [\\\"/apis\\\"], verbs: [get]"))

    def test_without_rights_on_leases_that_is_said_once(self):
        kubeconfig = self.kubeconfig(f"token: {accounts.new_token(self.plane, 'nobody')}")
        config = self.config(SHORT, extra=f"clientConnection: {{kubeconfig: {kubeconfig}}}")
        with Replica(self.plane, config) as replica:
            right = ('not allowed to get leases in kube-system: the Role there needs apiGroups: '
                     '[\\"coordination.k8s.io\\"], resources: [leases], '
                     'resourceNames: [kubenexus-scheduler], verbs: [get, update]')
            self.wait_until(lambda: replica.said(right))
            time.sleep(4)  # several more attempts
            self.assertEqual(len(replica.said(right)), 1)
            self.assertFalse(replica.leads)

    def test_a_changed_configuration_is_taken_over_and_a_broken_one_refused(self):
        config = self.config(LONG, "default-scheduler")
        with Replica(self.plane, config) as only:
            self.create_pods("a", 20)
            self.plane.create(PODS, pod("other", schedulerName="second"))
            self.wait_until(lambda: len(self.bound()) == 20)
            self.config(SHORT, "default-scheduler", "second")
            self.wait_until(lambda: self.is_bound("other"))
            self.assertEqual(len(only.said("Takes over the changed configuration")), 1)
            self.assertTrue(only.said("onlyAfterRestart=\"leaderElection\""))

            self.config(SHORT, "default-scheduler", extra="parallelism: many")
            self.wait_until(lambda: only.said("The changed configuration is not taken over"))
            self.assertRegex(only.said("The changed configuration is not taken over")[0],
                             r"config\.yaml:\d+:\d+: parallelism: ")
            self.create_pods("b", 20)
            self.plane.create(PODS, pod("another", schedulerName="second"))
            self.wait_until(lambda: len(self.bound()) == 42)
            self.assertEqual(len(only.said("Takes over")), 1)
            self.assert_nobody_wrote_twice()
            self.assertEqual(only.end(signal.SIGTERM), 0)

    def test_a_configuration_that_changes_during_work_loses_nothing(self):
        config = self.config(LONG, "default-scheduler")
        with Replica(self.plane, config) as only:
            for i in range(5):
                self.create_pods(f"r{i}x", 60)
                self.config(LONG, "default-scheduler", extra=f"podMaxBackoffSeconds: {10 + i}")
            self.wait_until(lambda: len(self.bound()) == 300)
            self.wait_until(lambda: only.said("Takes over"))
            self.assert_nobody_wrote_twice()


class Flags(unittest.TestCase):
    def run_with(self, *flags):
        return subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=30,
                              check=False)

    def test_a_file_that_is_too_large_is_refused_at_the_size_that_is_documented(self):
        with tempfile.NamedTemporaryFile("w") as large:
            large.write("#" * (1024 * 1024 + 1))
            large.flush()
            done = self.run_with(f"--config={large.name}", "--write-config-to=/dev/null")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"kubenexus-scheduler: {large.name}: too large: at most "
                                      "1048576 bytes are allowed\n")

    def test_the_configuration_that_is_written_is_read_alike(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = pathlib.Path(folder, "1"), pathlib.Path(folder, "2")
            source = live_test.ROOT / "tests" / "config" / "everything.yaml"
            done = self.run_with(f"--config={source}", f"--write-config-to={first}",
                                 "--leader-elect-retry-period=1s")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("retryPeriod: \"1s\"", first.read_text("utf-8"))
            self.assertEqual(first.stat().st_mode & 0o777, 0o600)
            done = self.run_with(f"--config={first}", f"--write-config-to={second}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(first.read_text("utf-8"), second.read_text("utf-8"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
