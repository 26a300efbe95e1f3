"""What the daemon says about itself: pages over HTTPS, SIGUSR2, and as a shadow."""

import http.client
import json
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

import accounts  # noqa: E402
from cable import Cable  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from api_server import documents_of  # noqa: E402
from live_test import PODS, PROGRAM, Scheduler, condition, node, pod  # noqa: E402
from running import free_port  # noqa: E402
from texts_test import kube_scheduler  # noqa: E402

METRICS_READER = ROOT / "deploy" / "metrics-reader.yaml"
WITHOUT_OTHERS = "--without=kube-scheduler,kube-controller-manager"
CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


GANG_PROFILE = """profiles:
  - schedulerName: gangs
    plugins: {multiPoint: {enabled: [{name: Coscheduling}, {name: ResourceReservation},
                                     {name: GangPreemption}, {name: BackfillScoring}]}}
"""


class Serving(Scheduler):
    """A daemon with its pages on a port of loopback."""

    def __init__(self, plane, *flags, descriptors=None):
        self.port = free_port()
        super().__init__(plane, "--bind-address=127.0.0.1", f"--secure-port={self.port}", *flags)
        if descriptors:
            few = f'ulimit -n {descriptors} && exec "$0" "$@"'
            self._command = ["sh", "-c", few, *self._command]

    def connect(self):
        # The certificate is the daemon's own: nobody vouches for it.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=5)

    def get(self, path, token=None):
        connection = self.connect()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane(WITHOUT_OTHERS))
        cls.admin = (cls.plane.folder / "admin.token").read_text("ascii")
        for i in range(3):
            cls.plane.create("/api/v1/nodes", node(f"n{i}"))

    def wait_until(self, holds, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not come true in time")
            time.sleep(0.1)

    def wait_until_ready(self, daemon):
        def ready():
            try:
                return daemon.get("/readyz")[0] == 200
            except OSError:
                return False
        self.wait_until(ready)

    def test_everybody_may_ask_for_health_and_who_may_for_the_rest(self):
        with Serving(self.plane) as daemon:
            self.wait_until_ready(daemon)
            for page in ("/healthz", "/livez", "/readyz"):
                self.assertEqual(daemon.get(page), (200, "ok"))
            self.assertIn("[+]sched-handler-sync ok", daemon.get("/readyz?verbose")[1])
            self.assertEqual(daemon.get("/metrics")[0], 403)
            self.assertEqual(daemon.get("/metrics", token="wrong")[0], 401)
            self.plane.create(PODS, pod("seen"))
            self.plane.wait_for(f"{PODS}/seen", lambda p: p["spec"].get("nodeName"))
            status, text = daemon.get("/metrics", token=self.admin)
            self.assertEqual(status, 200)
            self.assertRegex(text, r'schedule_attempts_total\{[^}]*"scheduled"[^}]*\} 1\n')
            self.assertRegex(text, r'\nprocess_resident_memory_bytes \d')
            self.assertIn("kube_pod_resource_request",
                          daemon.get("/metrics/resources", token=self.admin)[1])
            config = json.loads(daemon.get("/configz", token=self.admin)[1])["componentconfig"]
            self.assertEqual(config["profiles"][0]["schedulerName"], "default-scheduler")

    def test_gangs_reservations_and_promises_are_counted(self):
        config = self.plane.folder / "gangs.yaml"
        config.write_text(CONFIGURATION + GANG_PROFILE, "ascii")
        ours = "pod-group.scheduling.kubenexus.io"
        with Serving(self.plane, f"--config={config}") as daemon:
            self.wait_until_ready(daemon)
            for i in range(2):
                member = pod(f"member{i}", schedulerName="gangs")
                member["metadata"]["labels"] = {f"{ours}/name": "train",
                                                f"{ours}/min-available": "2"}
                self.plane.create(PODS, member)
            self.plane.wait_for(f"{PODS}/member1", lambda p: p["spec"].get("nodeName"))
            for line in (
                    'gang_scheduling_decisions_total{outcome="success",namespace="default"} 1',
                    'pod_group_size_sum{namespace="default"} 2',
                    'gang_waiting_time_seconds_count{namespace="default"} 1',
                    'gang_completion_latency_seconds_count{namespace="default",gang_size="1-8"} 1',
                    'starvation_preventions_total 0',
                    'backfill_next_start_timestamp_seconds 0'):
                self.wait_until(lambda text=line: f"\nkubenexus_{text}\n" in daemon.get(
                    "/metrics", token=self.admin)[1])

    def test_who_has_the_role_of_the_example_may_read_metrics_and_nothing_else(self):
        for text in documents_of(METRICS_READER.read_text("utf-8")):
            self.plane.apply(text)
        account = "/api/v1/namespaces/kube-system/serviceaccounts/kubenexus-metrics-reader"
        token = self.plane.create(f"{account}/token", {"spec": {}})["status"]["token"]
        with Serving(self.plane) as daemon:
            self.wait_until_ready(daemon)
            for page, status in (("/metrics", 200), ("/metrics/resources", 200), ("/configz", 403)):
                self.assertEqual(daemon.get(page, token=token)[0], status, page)

    def test_clients_of_the_pages_do_not_take_what_the_way_to_the_server_needs(self):
        with Cable(self.plane) as cable, \
                Serving(self.plane, f"--kubeconfig={cable.kubeconfig}", descriptors=48) as daemon:
            self.wait_until_ready(daemon)
            greedy = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(100)]
            time.sleep(1)
            cable.cut()
            self.plane.create(PODS, pod("after-all"))
            self.plane.wait_for(f"{PODS}/after-all", lambda p: p["spec"].get("nodeName"))
            # Who only holds a connection makes room for who asks.
            self.assertEqual(daemon.get("/livez"), (200, "ok"))
            for connection in greedy:
                connection.close()

    def test_asked_to_end_it_still_answers_who_asks_but_waits_for_nobody_for_long(self):
        with Serving(self.plane) as daemon:
            self.wait_until_ready(daemon)
            asks, never_ends = daemon.connect(), daemon.connect()
            for connection in (asks, never_ends):
                connection.connect()
                connection.sock.sendall(b"GET /livez HTTP/1.1\r\nhost: x\r\n")
            self.assertEqual(daemon.get("/livez"), (200, "ok"))
            began = time.monotonic()
            daemon.process.send_signal(signal.SIGTERM)
            self.wait_until(lambda: daemon.said("Asked to end"))
            asks.sock.sendall(b"\r\n")
            answer = asks.sock.recv(1000)
            self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\n"), answer)
            self.assertTrue(answer.endswith(b"\r\n\r\nok"), answer)
            self.assertEqual(daemon.process.wait(timeout=60), 0)
            # Half a minute is what a request may take while nobody wants it to end.
            self.assertLess(time.monotonic() - began, 20)
            asks.close()
            never_ends.close()

    def test_who_asks_and_what_they_may_can_be_looked_up_elsewhere(self):
        looker = who_may_only_look(self.plane)
        token = accounts.token_in(looker)
        other = accounts.kubeconfig(self.plane)
        who, may = f"--authentication-kubeconfig={other}", f"--authorization-kubeconfig={other}"
        for flags, want in (([], 401), ([who], 500), ([who, may], 403)):
            with self.subTest(want=want), \
                    Serving(self.plane, f"--kubeconfig={looker}", *flags) as daemon:
                self.wait_until_ready(daemon)
                self.assertEqual(daemon.get("/metrics", token=token)[0], want)
        done = subprocess.run(
            [PROGRAM, f"--kubeconfig={looker}", "--authorization-kubeconfig=/nowhere",
             "--bind-address=127.0.0.1", f"--secure-port={free_port()}"],
            capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--authorization-kubeconfig", done.stderr.strip().splitlines()[-1])

    def test_a_port_that_is_taken_is_one_line(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = subprocess.run(
                [PROGRAM, f"--kubeconfig={accounts.kubeconfig(self.plane)}",
                 "--bind-address=127.0.0.1", f"--secure-port={port}"],
                capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.strip().splitlines()[-1],
                         rf"^kubenexus-scheduler: .*127\.0\.0\.1:{port}: Address already in use$")

    def test_asked_by_a_signal_it_compares_its_state_with_the_server(self):
        with Serving(self.plane) as daemon:
            self.wait_until_ready(daemon)
            daemon.process.send_signal(signal.SIGUSR2)
            self.wait_until(lambda: daemon.said("State compared with the API server"))
            self.assertIn("differences=0", daemon.said("State compared with the API server")[0])
            self.assertIn("nodes=3", daemon.said('"State"')[0])


def who_may_only_look(plane):
    """A kubeconfig of a service account that may list and watch, no more."""
    account = {"kind": "ServiceAccount", "name": "looker", "namespace": "default"}
    roles = "/apis/rbac.authorization.k8s.io/v1"
    token = accounts.new_token(plane, "looker")
    plane.create(f"{roles}/clusterroles", {"metadata": {"name": "look"}, "rules": [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["list", "watch"]}]})
    plane.create(f"{roles}/clusterrolebindings", {
        "metadata": {"name": "look"}, "subjects": [account],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": "look"}})
    return accounts.write_kubeconfig(plane, plane.folder / "looker.kubeconfig", f"token: {token}")


class AsShadow(unittest.TestCase):
    @staticmethod
    def create_pods(plane, name, count):
        """One after the other, so that both schedulers decide with the same before their eyes."""
        for i in range(count):
            plane.create(PODS, pod(f"{name}{i}", cpu=f"{100 + i}m"))
            plane.wait_for(f"{PODS}/{name}{i}", lambda p: p["spec"].get("nodeName"), pause=0.01)

    def wait_until_it_says(self, log, text, times):
        end = time.monotonic() + 60
        while log.read_text("utf-8").count(text) < times:
            self.assertLess(time.monotonic(), end, log.read_text("utf-8"))
            time.sleep(0.1)

    def wait_until_it_has_seen_all(self, shadow, log):
        """Compares what it knows with the server until it knows everything."""
        said, end = "State compared with the API server", time.monotonic() + 60
        while True:
            before = log.read_text("utf-8").count(said)
            shadow.send_signal(signal.SIGUSR2)
            self.wait_until_it_says(log, said, before + 1)
            lines = [line for line in log.read_text("utf-8").splitlines() if said in line]
            if "differences=0" in lines[-1]:
                return
            self.assertLess(time.monotonic(), end, lines)

    def test_it_agrees_with_kube_scheduler_and_writes_nothing(self):
        with ControlPlane(WITHOUT_OTHERS) as plane:
            for i in range(10):
                plane.create("/api/v1/nodes", node(f"n{i}", zone=str(i % 3)))
            config, log_file = plane.folder / "shadow.yaml", plane.folder / "shadow.log"
            config.write_text(CONFIGURATION, "ascii")
            command = [PROGRAM, f"--kubeconfig={who_may_only_look(plane)}", "--secure-port=0",
                       "--shadow", f"--config={config}"]
            with log_file.open("w", encoding="utf-8") as log:
                shadow = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
            self.addCleanup(shadow.kill)
            self.wait_until_it_says(log_file, "Knows the cluster", 1)
            with kube_scheduler(plane):
                plane.create(PODS, pod("large", cpu="99"))
                plane.wait_for(f"{PODS}/large", condition)
                self.create_pods(plane, "p", 50)
                self.wait_until_it_has_seen_all(shadow, log_file)
                # Another configuration changes nothing of what was counted.
                config.write_text(CONFIGURATION + "podMaxBackoffSeconds: 9\n", "ascii")
                self.wait_until_it_says(log_file, "Knows the cluster", 2)
                self.create_pods(plane, "q", 50)
                self.wait_until_it_has_seen_all(shadow, log_file)
            shadow.send_signal(signal.SIGTERM)
            report = shadow.communicate(timeout=60)[0]
            log = log_file.read_text("utf-8")
        self.assertEqual(shadow.returncode, 0)
        # Nothing that it may not do was tried, and nothing else went wrong.
        self.assertEqual([line for line in log.splitlines() if line.startswith("E")], [])
        self.assertNotIn("Somebody else bound", log)
        counts = {what: int(count) for what, count in
                  re.findall(r"^  (.*?)\s{2,}(\d+) +[\d.]+ %$", report, re.M)}
        self.assertIn("Placed by the other scheduler: 100", report)
        self.assertEqual(counts["on one that does not fit by our count"], 0, report)
        same = (counts["on the node that we would have chosen"]
                + counts["on another that is as good by our scores"])
        self.assertGreaterEqual(same, 95, report)
        self.assertEqual(counts["by us too, in the same words"], 1, report)


if __name__ == "__main__":
    unittest.main(verbosity=2)
