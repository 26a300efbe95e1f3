"""kubenexus-scheduler on a real API server: `make test-live`."""

import base64
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

from control_plane import ControlPlane, is_running  # noqa: E402
import accounts  # noqa: E402
from audit import audited, bindings  # noqa: E402
from cable import Cable  # noqa: E402
from progress import wait_for_count  # noqa: E402
from running import free_port  # noqa: E402
from shifted_clock import ShiftedClock  # noqa: E402

PROGRAM = ROOT / "bin" / "kubenexus-scheduler"
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
A_DAY = 24 * 3600  # seconds


def node(name, cpu="8", memory="32Gi", pods="110", **labels):
    room = {"cpu": cpu, "memory": memory, "pods": pods}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": room, "capacity": room}}


def pod(name, cpu="100m", **spec):
    container = {"name": "c", "image": "registry.example/c",
                 "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}}


def condition(of, kind="PodScheduled"):
    found = [c for c in of["status"].get("conditions", []) if c["type"] == kind]
    return found[0] if found else {}


class Scheduler:
    """Runs inside a `with`, under the service account of deploy/; what it logs goes to a file that
    a failing test prints. Alone, so that a killed one need not wait for its own lease;
    leader_test.py has the others."""

    def __init__(self, plane, *flags, kubeconfig=None):
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        way = kubeconfig or accounts.kubeconfig(plane)
        self._command = [PROGRAM, f"--kubeconfig={way}", "--leader-elect=false",
                         "--secure-port=0", *flags]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self._command, stderr=self.log)

    def said(self, text):
        return [line for line in pathlib.Path(self.log.name).read_text("utf-8").splitlines()
                if text in line]

    def end(self, by):
        self.process.send_signal(by)
        return self.process.wait(timeout=60)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, failed, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if failed:
            self.log.seek(0)
            print(self.log.read(), file=sys.stderr)
        self.log.close()


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane, cls.audit = cls.enterClassContext(
            audited("--without=kube-scheduler,kube-controller-manager"))

    def tearDown(self):
        for path in (PODS, EVENTS, "/api/v1/nodes"):
            self.plane.request("DELETE", path + "?gracePeriodSeconds=0")

    def bound(self):
        return [p for p in self.plane.get(PODS)["items"] if p["spec"].get("nodeName")]

    def wait_until(self, holds, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not come true in time")
            time.sleep(0.05)

    def get_pod(self, name):
        return self.plane.get(f"{PODS}/{name}")

    def test_pods_are_bound_within_the_room_of_the_nodes_and_people_are_told(self):
        for i in range(10):
            self.plane.create("/api/v1/nodes", node(f"n{i}", cpu="2"))
        for i in range(200):
            self.plane.create(PODS, pod(f"p{i}"))
        with Scheduler(self.plane):
            self.wait_until(lambda: len(self.bound()) == 200)
            self.wait_until(lambda: len(self.plane.get(EVENTS)["items"]) == 200)
        counts = {}
        for one in self.bound():
            counts[one["spec"]["nodeName"]] = counts.get(one["spec"]["nodeName"], 0) + 1
        self.assertEqual(set(counts.values()), {20}, counts)
        event = self.plane.get(EVENTS)["items"][0]
        self.assertEqual((event["reason"], event["action"], event["reportingController"]),
                         ("Scheduled", "Binding", "default-scheduler"))

    def test_the_configuration_that_is_shipped_runs_it(self):
        self.plane.create("/api/v1/nodes", node("n"))
        for name in ("default-scheduler", "kubenexus-scheduler"):
            self.plane.create(PODS, pod(f"of-{name}", schedulerName=name))
        # As a user types it, but for where its pages are.
        daemon = subprocess.Popen(
            ["./bin/kubenexus-scheduler", "--config=config/config.yaml",
             "--bind-address=127.0.0.1", f"--secure-port={free_port()}"], cwd=ROOT,
            env={**os.environ, "KUBECONFIG": str(accounts.kubeconfig(self.plane))},
            stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        self.wait_until(lambda: len(self.bound()) == 2)
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=60), 0)

    def test_a_pod_that_fits_nowhere_says_why_and_is_bound_once_it_fits(self):
        self.plane.create("/api/v1/nodes", node("small", cpu="1"))
        self.plane.create(PODS, pod("large", cpu="4"))
        with Scheduler(self.plane):
            self.wait_until(lambda: condition(self.get_pod("large")).get("status") == "False")
            said = condition(self.get_pod("large"))
            self.assertEqual(said["reason"], "Unschedulable")
            self.assertEqual(
                said["message"],
                "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
                "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
            self.plane.create("/api/v1/nodes", node("big"))
            self.wait_until(lambda: self.get_pod("large")["spec"].get("nodeName") == "big")

    def test_a_more_important_pod_gets_the_room_of_a_less_important_one(self):
        self.plane.create("/api/v1/nodes", node("only", cpu="1"))
        self.plane.create("/apis/scheduling.k8s.io/v1/priorityclasses",
                          {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                           "metadata": {"name": "high"}, "value": 1000})
        with Scheduler(self.plane):
            self.plane.create(PODS, pod("low", cpu="1"))
            self.wait_until(lambda: len(self.bound()) == 1)
            self.plane.create(PODS, pod("vip", cpu="1", priorityClassName="high"))
            self.wait_until(lambda: self.get_pod("vip")["spec"].get("nodeName") == "only")
        self.assertEqual([p["metadata"]["name"] for p in self.bound()], ["vip"])

    def test_killed_at_any_moment_it_goes_on_where_it_was(self):
        for i in range(10):
            self.plane.create("/api/v1/nodes", node(f"n{i}", pods="60"))
        with Scheduler(self.plane) as scheduler:
            for i in range(500):
                self.plane.create(PODS, pod(f"p{i}", cpu="10m"))
                if i % 100 == 99:
                    scheduler.end(signal.SIGKILL)
                    scheduler.start()
            self.wait_until(lambda: len(self.bound()) == 500)

    def test_the_log_says_what_became_of_a_pod(self):
        self.plane.create("/api/v1/nodes", node("only", cpu="1"))
        self.plane.create(PODS, pod("small"))
        with Scheduler(self.plane, "--v=2", "--logging-format=json") as scheduler:
            self.wait_until(lambda: len(self.bound()) == 1)
            self.plane.create(PODS, pod("large", cpu="2"))
            self.wait_until(lambda: condition(self.get_pod("large")).get("status") == "False")
            scheduler.end(signal.SIGTERM)
            log = pathlib.Path(scheduler.log.name).read_text()
        lines = [json.loads(line) for line in log.splitlines()]
        said = {line["msg"]: line for line in lines}
        bound = said["Bound pod"]
        self.assertEqual((bound["v"], bound["pod"], bound["node"]),
                         (2, {"name": "small", "namespace": "default"}, "only"))
        waits = said["No node takes the pod; it waits"]
        self.assertEqual(waits["pod"]["name"], "large")
        self.assertIn("Insufficient cpu", waits["err"])
        self.assertIn("Asked to end", said)

    def asked_to_end_amid_bindings(self, scheduler, cable):
        """While it waits for answers. How many bindings the server had done that it did not know
        of yet."""
        before = len(self.audit.writes())

        def sent():
            return len(bindings(self.audit.writes()[before:]))

        wait_for_count(sent, 50, pause=0.001)
        cable.hold_answers()
        known_at_most = sent()
        wait_for_count(sent, known_at_most + 20, pause=0.01)
        scheduler.process.send_signal(signal.SIGTERM)
        self.wait_until(lambda: scheduler.said("Asked to end"))
        time.sleep(1)
        self.assertIsNone(scheduler.process.poll(), "it waits for the answers")
        return sent() - known_at_most

    def test_asked_to_end_it_finishes_what_it_has_sent(self):
        before = len(self.audit.writes())
        self.plane.create("/api/v1/nodes", node("n", pods="1000"))
        self.plane.create_many(PODS, [pod(f"p{i}", cpu="1m") for i in range(900)])
        with Cable(self.plane) as cable, \
                Scheduler(self.plane, kubeconfig=cable.kubeconfig) as scheduler:
            unknown = self.asked_to_end_amid_bindings(scheduler, cable)
            said = scheduler.said("Asked to end")[0]
            self.assertGreaterEqual(int(re.search(r"unanswered=(\d+)", said).group(1)), unknown)
            self.plane.create_many(PODS, [pod(f"late-{i}", cpu="1m") for i in range(100)])
            cable.pass_answers_on()
            self.assertEqual(scheduler.process.wait(timeout=60), 0)
            sent = bindings(self.audit.writes()[before:])
            self.assertEqual({each["responseStatus"]["code"] for each in sent}, {201})
            names = {each["objectRef"]["name"] for each in sent}
            self.assertFalse([name for name in names if name.startswith("late")], "it is to end")
            self.assertEqual({p["metadata"]["name"] for p in self.bound()}, names)
            told = [e["regarding"]["name"] for e in self.plane.get(EVENTS)["items"]
                    if e["reason"] == "Scheduled"]
            self.assertEqual(sorted(told), sorted(names))
            time.sleep(1)
            self.assertEqual(len(bindings(self.audit.writes()[before:])), len(sent), "it has ended")
            scheduler.start()
            self.wait_until(lambda: len(self.bound()) == 1000)


def line_with(process, text):
    """What a process says up to the first line with this text, or to its end."""
    said = ""
    for line in process.stderr:
        said += line
        if text in line:
            break
    return said


def ended(process):
    """How it ended."""
    process.stderr.close()
    return process.wait(timeout=60)


class WrongWay(unittest.TestCase):
    def run_with(self, *flags, environment=os.environ, complaints=1):
        """How it ended, and the last of so many lines that complain."""
        done = subprocess.run([PROGRAM, "--secure-port=0", *flags], capture_output=True, text=True,
                              env={**environment, "HOME": "/none", "KUBECONFIG": ""}, timeout=30,
                              check=False)
        self.assertEqual(done.stdout, "")
        said = [line for line in done.stderr.splitlines() if not re.match(r"I\d{4} ", line)]
        self.assertEqual(len(said), complaints, done.stderr)
        return done.returncode, said[-1]

    def test_no_way_to_a_server_is_one_line(self):
        code, said = self.run_with("--kubeconfig=/none/config")
        self.assertEqual(code, 2)
        self.assertEqual(said, "kubenexus-scheduler: --kubeconfig: /none/config: cannot be read: "
                               "No such file or directory")

    @contextlib.contextmanager
    def kubeconfig(self, server, more="", user="token: abc"):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("apiVersion: v1\nkind: Config\ncurrent-context: a\n"
                         "contexts: [{name: a, context: {cluster: c, user: u}}]\n"
                         f"clusters: [{{name: c, cluster: {{server: '{server}'{more}}}}}]\n"
                         f"users: [{{name: u, user: {{{user}}}}}]\n")
            config.flush()
            yield f"--kubeconfig={config.name}"

    def test_a_kubeconfig_that_is_none_is_one_line_that_says_where(self):
        for text, said in (
            ("clusters: [", r":\d+:\d+: .*"),
            ("apiVersion: v1\nclusters: 7\n", ":2:11: clusters: expected a list.*"),
            ("current-context: a\n", ":1:18: current-context: .*\"a\".*"),
            ("\0\1\2", ".*"),
        ):
            with self.subTest(text), tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
                config.write(text)
                config.flush()
                code, line = self.run_with(f"--kubeconfig={config.name}")
                self.assertEqual(code, 2)
                self.assertRegex(line, rf"\Akubenexus-scheduler: {re.escape(config.name)}{said}\Z")

    def test_certificates_that_have_expired_are_one_line(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        clock = ShiftedClock(folder, -30 * A_DAY)
        file = folder / "client.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=late",
                        "-keyout", folder / "key", "-out", file], check=True, capture_output=True,
                       env=clock.environment())
        certificate, key = (base64.b64encode(path.read_bytes()).decode()
                            for path in (file, folder / "key"))
        user = f"client-certificate-data: {certificate}, client-key-data: {key}"
        with self.kubeconfig("https://127.0.0.1:1", user=user) as flag:
            code, said = self.run_with(flag)
        self.assertEqual(code, 2)
        self.assertRegex(said, r"\Akubenexus-scheduler: /\S+:6:\d+: users\[0\]\.user\.client-"
                               r"certificate-data: the certificate ended at \S+Z, and by the clock "
                               r"here it is \S+Z\Z")
        with ControlPlane("--without=kube-scheduler,kube-controller-manager") as plane:
            clock.set(10 * 366 * A_DAY)  # Then the server's has, too.
            code, said = self.run_with(f"--kubeconfig={accounts.kubeconfig(plane)}",
                                       environment=clock.environment())
            self.assertEqual(code, 2)
            address = plane.server.removeprefix("https://")
            self.assertEqual(said, f"kubenexus-scheduler: {address}: the server's certificate is "
                                   "not trusted: certificate has expired")

    def test_a_proxy_of_a_kind_that_is_not_supported_is_one_line(self):
        with self.kubeconfig("https://127.0.0.1:1", ", proxy-url: 'socks5://127.0.0.1:2'") as flag:
            code, said = self.run_with(flag)
        self.assertEqual(code, 2)
        self.assertRegex(said, r"^kubenexus-scheduler: \S+:5:\d+: clusters\[0\]\.cluster\."
                               r"proxy-url: socks5 is not supported; allowed are http, https$")

    def test_a_server_that_is_down_is_waited_for_with_one_line(self):
        for more, via in (("", ""), (", proxy-url: 'http://127.0.0.1:2'",
                                     " through the proxy 127.0.0.1:2")):
            with self.kubeconfig("https://127.0.0.1:1", more) as flag:
                waiting = subprocess.Popen([PROGRAM, "--secure-port=0", flag],
                                           stderr=subprocess.PIPE, text=True)
                said = line_with(waiting, "127.0.0.1:1")
                time.sleep(2)  # several more attempts
                waiting.send_signal(signal.SIGTERM)
                said += waiting.stderr.read()
            self.assertEqual(ended(waiting), 0)
            about_it = [line for line in said.splitlines() if "127.0.0.1:1:" in line
                        or "127.0.0.1:1 " in line]
            self.assertEqual(len(about_it), 1, said)
            self.assertIn(f"waiting for the API server: 127.0.0.1:1{via}: Connection refused",
                          about_it[0])

    def test_a_server_that_stays_down_ends_it(self):
        with self.kubeconfig("https://127.0.0.1:1") as flag:
            # That it is waited for, and that it was.
            self.assertEqual(self.run_with(flag, "--wait-for-api-server=1s", complaints=2),
                             (2, "kubenexus-scheduler: waited 1s for the API server: "
                                 "127.0.0.1:1: Connection refused"))

    def test_with_few_descriptors_one_line_says_so_and_signals_are_heard(self):
        endings = set()
        with self.kubeconfig("https://127.0.0.1:1") as flag:
            for descriptors in range(4, 9):
                few = subprocess.Popen(
                    ["sh", "-c", f'ulimit -n {descriptors} && exec "$0" "$@"', PROGRAM,
                     "--secure-port=0", flag], stderr=subprocess.PIPE, text=True)
                # From then on signals are heard; with fewer descriptors it ends by itself.
                said = line_with(few, "waiting for the API server")
                few.send_signal(signal.SIGTERM)
                said += few.stderr.read()
                endings.add(ended(few))
                if few.returncode == 0:
                    self.assertIn("waiting for the API server: 127.0.0.1:1: ", said)
                else:
                    self.assertEqual(few.returncode, 2, said)
                    self.assertRegex(said.splitlines()[-1],
                                     "^kubenexus-scheduler: .*: Too many open files$")
        self.assertEqual(endings, {0, 2})

    def test_a_credential_plugin_that_hangs_is_told_of_and_ends_with_us(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            plugin, log, number = folder / "plugin", folder / "log", folder / "pid"
            plugin.write_text(f"#!/bin/sh\necho $$ > {number}\nexec sleep 100\n", "ascii")
            plugin.chmod(0o700)
            user = ("exec: {apiVersion: client.authentication.k8s.io/v1, "
                    f"interactiveMode: Never, command: {plugin}}}")
            with self.kubeconfig("https://127.0.0.1:1", user=user) as flag, \
                    log.open("w", encoding="utf-8") as out:
                waiting = subprocess.Popen([PROGRAM, "--secure-port=0", flag], stderr=out)
                end = time.monotonic() + 60
                while "has not answered yet; it is waited for" not in log.read_text("utf-8"):
                    self.assertLess(time.monotonic(), end, log.read_text("utf-8"))
                    time.sleep(0.1)
                waiting.send_signal(signal.SIGTERM)
                self.assertEqual(waiting.wait(timeout=60), 0)
            self.assertFalse(is_running(int(number.read_text("ascii"))))

    def test_what_no_waiting_mends_ends_it_with_one_line(self):
        with ControlPlane("--without=kube-scheduler,kube-controller-manager") as plane:
            with self.kubeconfig(plane.server) as flag:
                code, said = self.run_with(flag)
            self.assertEqual(code, 2)
            self.assertIn("the server's certificate is not trusted: ", said)
            with self.kubeconfig(plane.server, ", insecure-skip-tls-verify: true") as flag:
                code, said = self.run_with(flag)
            self.assertEqual(code, 2)
            self.assertRegex(said, r"\Akubenexus-scheduler: /\S+:\d+:\d+: users\[0\]\.user: the "
                                   r"API server does not accept our credentials: Unauthorized\Z")


if __name__ == "__main__":
    unittest.main(verbosity=2)
