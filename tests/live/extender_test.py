"""Extenders: kubenexus-scheduler and kube-scheduler with the same ones do and say the same.

Part of `make test-live`. The extender is a server in this program; every case is played once for
each scheduler, on the same API server, one after the other.
"""

import contextlib
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

from control_plane import ControlPlane  # noqa: E402
import accounts  # noqa: E402
from extender import Extender  # noqa: E402

NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def node(name, cpu="4"):
    room = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": room, "capacity": room}}


def pod(name, cpu="1", resources=None, **spec):
    amounts = {"cpu": cpu, **(resources or {})}
    container = {"name": "c", "image": "registry.example/c",
                 "resources": {"requests": amounts, "limits": amounts}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}}


def condition(of):
    found = [c for c in of["status"].get("conditions", []) if c["type"] == "PodScheduled"]
    return found[0] if found else {}


def names_in(args):
    """The nodes that an extender is asked about, whichever way they were sent."""
    if args["NodeNames"] is not None:
        return args["NodeNames"]
    return [n["metadata"]["name"] for n in args["Nodes"]["items"]]


class Scheduler:
    """One of the two, inside a `with`, with extenders; a failing test prints its log."""

    COMMANDS = {
        "ours": [ROOT / "bin" / "kubenexus-scheduler", "--secure-port=0"],
        "theirs": [ROOT / "bin" / "knx-control-plane", "kube-scheduler", "--secure-port=0"],
    }

    def __init__(self, whose, plane, extenders, **configuration):
        theirs = plane.folder / "kube-scheduler.kubeconfig"
        kubeconfig = str(accounts.kubeconfig(plane) if whose == "ours" else theirs)
        self._config = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        json.dump({"apiVersion": "kubescheduler.config.k8s.io/v1",
                   "kind": "KubeSchedulerConfiguration",
                   "leaderElection": {"leaderElect": False},
                   "clientConnection": {"kubeconfig": kubeconfig},
                   "extenders": extenders, **configuration}, self._config)
        self._config.flush()
        self._log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self._command = [*self.COMMANDS[whose], f"--config={self._config.name}"]
        if whose == "ours":
            self._command.append(f"--kubeconfig={kubeconfig}")

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stderr=self._log, stdout=self._log)
        return self

    def said(self, text):
        lines = pathlib.Path(self._log.name).read_text("utf-8").splitlines()
        return [line for line in lines if text in line]

    def __exit__(self, failed, *_):
        self._process.kill()
        self._process.wait()
        if failed:
            self._log.seek(0)
            print(self._log.read()[-8000:], file=sys.stderr)
        self._log.close()
        self._config.close()


class Extenders(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls._stack = contextlib.ExitStack()
        cls.plane = cls._stack.enter_context(
            ControlPlane("--without=kube-scheduler,kube-controller-manager"))
        cls.plane.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                   "metadata": {"name": "high"}, "value": 1000})

    @classmethod
    def tearDownClass(cls):
        cls._stack.close()

    def clean(self):
        for path in (PODS, NODES):
            self.plane.request("DELETE", path + "?gracePeriodSeconds=0")

    def tearDown(self):
        self.clean()

    def play(self, whose, nodes, pods, extenders):
        """What became of each pod: the node, or the reason and the message of its condition."""
        self.clean()
        for one in nodes:
            self.plane.create(NODES, one)
        out = {}
        with Scheduler(whose, self.plane, extenders):
            for one in pods:
                name = one["metadata"]["name"]
                self.plane.create(PODS, one)
                now = self.plane.wait_for(
                    f"{PODS}/{name}",
                    lambda p: p["spec"].get("nodeName") or condition(p).get("status") == "False",
                    timeout=30)
                said = condition(now)
                out[name] = now["spec"].get("nodeName") or (said["reason"], said["message"])
        return out

    def both(self, nodes, pods, *extenders, **answers):
        """Plays it with each scheduler and demands that both come to the same; gives that, and what
        ours asked the extender."""
        outcomes, asked = {}, {}
        for whose in ("theirs", "ours"):
            with Extender(**answers) as extender:
                config = [{"urlPrefix": extender.url, **one} for one in extenders]
                outcome = self.play(whose, nodes, pods, config)
                asked[whose] = extender.asked
            text = json.dumps(outcome).replace(extender.url, "URL")
            outcomes[whose] = json.loads(text)
        self.assertEqual(outcomes["ours"], outcomes["theirs"])
        # Asked again after a failure, or not yet when we looked: that is a matter of time.
        first = min(len(asked["ours"]), len(asked["theirs"]))
        for (verb, ours), (their_verb, theirs) in zip(asked["ours"][:first],
                                                      asked["theirs"][:first]):
            self.assertEqual((verb, set(ours)), (their_verb, set(theirs)))
        return outcomes["ours"], asked["ours"]

    # ---- filter and prioritize ----

    NAMES_AND_WHOLE = ({"nodeCacheCapable": True}, {"nodeCacheCapable": False})

    @staticmethod
    def keep(*names):
        """A filter for both kinds of extenders."""
        def answer(args):
            if args["NodeNames"] is not None:
                return {"NodeNames": [n for n in args["NodeNames"] if n in names]}
            items = [n for n in args["Nodes"]["items"] if n["metadata"]["name"] in names]
            return {"Nodes": {"metadata": {}, "items": items}}
        return answer

    def test_it_decides_together_with_the_plugins(self):
        for kind in self.NAMES_AND_WHOLE:
            with self.subTest(**kind):
                came, asked = self.both(
                    [node("a"), node("b"), node("c"), node("small", cpu="500m")], [pod("p")],
                    {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 5, **kind},
                    filter=self.keep("a", "b"),
                    prioritize=lambda args: [{"Host": n, "Score": 10 if n == "b" else 0}
                                             for n in names_in(args)])
                self.assertEqual(came, {"p": "b"})
                self.assertEqual(sorted(names_in(asked[0][1])), ["a", "b", "c"])
                self.assertEqual(sorted(names_in(asked[1][1])), ["a", "b"])
                sent = asked[0][1]["Pod"]
                self.assertEqual(sent["metadata"]["name"], "p")
                self.assertEqual(sent["spec"]["containers"][0]["image"], "registry.example/c")

    # kube-scheduler has no gangs like these.
    GANGS = [{"schedulerName": "default-scheduler",
              "plugins": {"multiPoint": {"enabled": [{"name": "Coscheduling"}]}}}]

    def test_a_gang_is_planned_among_the_nodes_that_are_left(self):
        ours = "pod-group.scheduling.kubenexus.io"
        left = ["small"]
        with Extender(filter=lambda args: {"NodeNames": [
                n for n in args["NodeNames"] if n in left]}) as extender:
            for one in (node("large"), node("other"), node("small", cpu="2")):
                self.plane.create(NODES, one)
            config = [{"urlPrefix": extender.url, "filterVerb": "filter",
                       "nodeCacheCapable": True}]
            with Scheduler("ours", self.plane, config, profiles=self.GANGS):
                for i in range(3):
                    member = pod(f"m{i}")
                    member["metadata"]["labels"] = {f"{ours}/name": "train",
                                                    f"{ours}/min-available": "3"}
                    self.plane.create(PODS, member)
                said = self.plane.wait_for(PODS, lambda got: len(got["items"]) == 3 and all(
                    "needs 3 pods at once, 2 fit" in condition(p).get("message", "")
                    for p in got["items"]), timeout=30)
                self.assertIn(f'Extender "{extender.url}" took 2 nodes away.',
                              condition(said["items"][2])["message"])
                self.assertEqual(len({args["Pod"]["metadata"]["name"]
                                      for _, args in extender.asked}), 1)
                left[:] = ["other"]
                self.plane.create(NODES, node("another"))  # Something happens.
                bound = self.plane.wait_for(PODS, lambda got: all(
                    p["spec"].get("nodeName") for p in got["items"]), timeout=60)
                self.assertEqual({p["spec"]["nodeName"] for p in bound["items"]}, {"other"})

    def test_a_node_is_sent_as_the_api_server_has_it(self):
        large = node("a")
        large["metadata"]["annotations"] = {"example.com/rack": "7", "quote": "\"\\\u00e4\n"}
        large["spec"] = {"providerID": "example://a"}
        _, asked = self.both([large], [pod("p")], {"filterVerb": "filter"}, filter=self.keep("a"))
        sent = asked[0][1]["Nodes"]["items"][0]
        self.assertEqual(sent["metadata"]["annotations"], large["metadata"]["annotations"])
        self.assertEqual(sent["spec"]["providerID"], "example://a")

    def test_why_it_refuses_is_said_in_its_words(self):
        came, _ = self.both(
            [node("a"), node("b"), node("c"), node("d"), node("small", cpu="500m")], [pod("p")],
            {"filterVerb": "filter", "nodeCacheCapable": True},
            filter=lambda _: {"nodenames": [], "failedNodes": {"a": "too loud", "b": "too loud"},
                              "failedAndUnresolvableNodes": {"c": "too far", "b": "too far"}})
        reason, message = came["p"]
        self.assertEqual(reason, "Unschedulable")
        self.assertTrue(message.startswith(
            "0/5 nodes are available: 1 Insufficient cpu, 1 too loud, 2 too far. "
            "no new claims to deallocate, preemption: "))

    def test_errors_are_said_as_by_kube_scheduler(self):
        def late(_):
            time.sleep(1.5)
            return {"NodeNames": ["a", "b"]}

        for name, answer, patience in (
            ("refuses", lambda _: (500, b"no"), "30s"),
            ("garbage", lambda _: (200, b"<html>"), "30s"),
            ("nothing", lambda _: (200, b""), "30s"),
            ("another type", lambda _: (200, b"[]"), "30s"),
            ("says so", lambda _: {"Error": "out of order"}, "30s"),
            ("made up", lambda _: {"NodeNames": ["moon"]}, "30s"),
            ("late", late, "500ms"),
        ):
            with self.subTest(name):
                came, _ = self.both([node("a"), node("b")], [pod("p")],
                                    {"filterVerb": "filter", "nodeCacheCapable": True,
                                     "httpTimeout": patience}, filter=answer)
                self.assertEqual(came["p"][0], "SchedulerError", came)

    def test_an_ignorable_one_can_be_done_without(self):
        came, _ = self.both([node("a")], [pod("p")],
                            {"filterVerb": "filter", "nodeCacheCapable": True, "ignorable": True},
                            filter=lambda _: (500, b"no"))
        self.assertEqual(came, {"p": "a"})

    def test_it_is_asked_only_about_what_it_manages(self):
        came, asked = self.both(
            [node("a", cpu="8"), node("b")],
            [pod("plain"), pod("managed", resources={"example.com/thing": "2"})],
            {"filterVerb": "filter", "nodeCacheCapable": True,
             "managedResources": [{"name": "example.com/thing", "ignoredByScheduler": True}]},
            filter=self.keep("b"))
        self.assertEqual(came["managed"], "b", "no node has the thing, and no plugin minds")
        self.assertEqual({args["Pod"]["metadata"]["name"] for _, args in asked}, {"managed"})

    # ---- bind and preempt ----

    def bind(self, args):
        self.plane.create(
            f"/api/v1/namespaces/{args['PodNamespace']}/pods/{args['PodName']}/binding",
            {"apiVersion": "v1", "kind": "Binding",
             "metadata": {"name": args["PodName"], "uid": args["PodUID"]},
             "target": {"kind": "Node", "name": args["Node"]}})
        return {"Error": ""}

    def test_it_binds(self):
        came, asked = self.both([node("a")], [pod("p")], {"bindVerb": "bind"}, bind=self.bind)
        self.assertEqual(came, {"p": "a"})
        self.assertEqual([verb for verb, _ in asked], ["bind"])

    def test_it_does_not_bind(self):
        came, _ = self.both([node("a")], [pod("p")], {"bindVerb": "bind"},
                            bind=lambda _: {"Error": "no rope"})
        self.assertEqual(came, {"p": ["SchedulerError", "no rope"]})

    def test_it_decides_where_room_is_made(self):
        for kind in self.NAMES_AND_WHOLE:
            with self.subTest(**kind):
                self.preempt(kind)

    def preempt(self, kind):
        def only_b(args):
            given = args["NodeNameToMetaVictims"] or args["NodeNameToVictims"]
            pods = [{"UID": p.get("UID") or p["metadata"]["uid"]} for p in given["b"]["Pods"]]
            return {"NodeNameToMetaVictims": {"b": {"Pods": pods}}}

        for whose in ("theirs", "ours"):
            with Extender(preempt=only_b) as extender:
                self.clean()
                for name in ("a", "b"):
                    self.plane.create(NODES, node(name, cpu="1"))
                    self.plane.create(PODS, pod(f"on-{name}", nodeName=name))
                config = [{"urlPrefix": extender.url, "preemptVerb": "preempt", **kind}]
                with Scheduler(whose, self.plane, config):
                    self.plane.create(PODS, pod("vip", priorityClassName="high"))
                    self.plane.wait_for(f"{PODS}/vip", lambda p: p["spec"].get("nodeName") == "b")
                left = sorted(p["metadata"]["name"] for p in self.plane.get(PODS)["items"])
                self.assertEqual(left, ["on-a", "vip"], whose)
                self.assertEqual(extender.asked[0][0], "preempt")

    def test_lies_about_victims_are_not_believed(self):
        for name, answer in {
            "no such node": {"moon": {"Pods": [{"UID": "x"}]}},
            "not there": {"a": {"Pods": [{"UID": "x"}]}},
            "nobody": {"a": {"Pods": []}},
            "nothing": {},
        }.items():
            with self.subTest(name):
                came, _ = self.both(
                    [node("a", cpu="1")], [pod("low"), pod("vip", priorityClassName="high")],
                    {"preemptVerb": "preempt", "nodeCacheCapable": True},
                    preempt=lambda _, said=answer: {"NodeNameToMetaVictims": said})
                self.assertEqual(came["low"], "a")
                self.assertEqual(came["vip"][0], "Unschedulable")

    # ---- ours alone ----

    def test_https(self):
        with tempfile.NamedTemporaryFile("r", suffix=".pem") as pem:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=x",
                            "-addext", "subjectAltName=DNS:extender.example", "-keyout", pem.name,
                            "-out", pem.name + ".crt"], check=True, capture_output=True)
            certificate = pathlib.Path(pem.name + ".crt")
            try:
                with open(pem.name, "a", encoding="ascii") as both:
                    both.write(certificate.read_text("ascii"))
                self.https(pem.name, str(certificate))
            finally:
                certificate.unlink()

    def https(self, pem, authority):
        known = {"caFile": authority, "serverName": "extender.example"}
        for options, bound in (
            ({"tlsConfig": known}, True),
            ({"enableHTTPS": True}, True),  # kube-scheduler then trusts everybody
            ({"tlsConfig": {"insecure": True}}, True),
            ({"tlsConfig": {"caFile": authority}}, False),  # it is not 127.0.0.1
            ({}, False),
        ):
            with self.subTest(str(options)), \
                    Extender(certificate=pem, filter=self.keep("a")) as extender:
                came = self.play("ours", [node("a")], [pod("p")],
                                 [{"urlPrefix": extender.url, "filterVerb": "filter", **options}])
                if bound:
                    self.assertEqual(came["p"], "a")
                else:
                    self.assertIn("the server's certificate is not trusted", came["p"][1])

    def test_others_go_on_while_one_waits(self):
        slow = threading.Event()

        def answer(_):
            slow.wait(120)
            return {"NodeNames": ["a"]}

        self.plane.create(NODES, node("a", cpu="50"))
        with Extender(filter=answer) as extender:
            config = [{"urlPrefix": extender.url, "filterVerb": "filter", "nodeCacheCapable": True,
                       "httpTimeout": "120s", "managedResources": [
                           {"name": "example.com/thing", "ignoredByScheduler": True}]}]
            with Scheduler("ours", self.plane, config):
                self.plane.create(PODS, pod("slow", resources={"example.com/thing": "1"}))
                for i in range(20):
                    self.plane.create(PODS, pod(f"p{i}"))
                for i in range(20):
                    self.plane.wait_for(f"{PODS}/p{i}", lambda p: p["spec"].get("nodeName"))
                self.assertNotIn("nodeName", self.plane.get(f"{PODS}/slow")["spec"])
                slow.set()
                self.plane.wait_for(f"{PODS}/slow", lambda p: p["spec"].get("nodeName") == "a")

    def test_nobody_there_is_said(self):
        came = self.play("ours", [node("a")], [pod("p")],
                         [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}])
        self.assertEqual(came["p"], ("SchedulerError", "Post \"http://127.0.0.1:1/filter\": "
                                                       "127.0.0.1:1: Connection refused"))

    def test_the_log_names_the_extender_that_fails(self):
        with Extender(filter=lambda _: {"Error": "no licence today"}) as extender:
            self.plane.create(NODES, node("a"))
            config = [{"urlPrefix": extender.url, "filterVerb": "filter", "nodeCacheCapable": True}]
            with Scheduler("ours", self.plane, config) as ours:
                self.plane.create(PODS, pod("p"))
                self.plane.wait_for(f"{PODS}/p", lambda p: condition(p).get("status") == "False")
                said = ours.said("Trouble with an extender")
        self.assertIn(f'no usable answer of extender \\"{extender.url}\\" for default/p: '
                      "no licence today", said[0])

    def test_one_that_lies_is_asked_no_more_often_than_back_off_allows(self):
        with Extender(filter=lambda _: {"NodeNames": ["moon"]}) as extender:
            self.plane.create(NODES, node("a"))
            config = [{"urlPrefix": extender.url, "filterVerb": "filter", "nodeCacheCapable": True}]
            with Scheduler("ours", self.plane, config):
                self.plane.create(PODS, pod("p"))
                end = time.monotonic() + 6
                for i in itertools.count():  # Something that may help happens all the time.
                    self.plane.create(NODES, node(f"n{i}"))
                    time.sleep(0.2)
                    if time.monotonic() > end:
                        break
        # At once, after a second, after two more, and perhaps after four.
        self.assertIn(len(extender.asked), (3, 4))

    def test_many_pods_are_bound(self):
        for i in range(20):
            self.plane.create(NODES, node(f"n{i}", cpu="10"))
        for i in range(200):
            self.plane.create(PODS, pod(f"p{i}"))
        with Extender(filter=lambda args: {"NodeNames": args["NodeNames"]},
                      prioritize=lambda args: [{"Host": args["NodeNames"][0], "Score": 10}]
                      ) as extender:
            config = [{"urlPrefix": extender.url, "filterVerb": "filter", "weight": 1,
                       "prioritizeVerb": "prioritize", "nodeCacheCapable": True}]
            with Scheduler("ours", self.plane, config):
                items = self.plane.wait_for(
                    PODS, lambda l: all(p["spec"].get("nodeName") for p in l["items"]))["items"]
        counts = {}
        for one in items:
            counts[one["spec"]["nodeName"]] = counts.get(one["spec"]["nodeName"], 0) + 1
        self.assertEqual(set(counts.values()), {10}, counts)

    def test_what_cannot_be_used_is_refused_at_start(self):
        for extender, complaint in (
            ({"urlPrefix": "gopher://x", "filterVerb": "f"}, "extenders[0] \"gopher://x\": "),
            ({"urlPrefix": "https://x", "filterVerb": "f", "tlsConfig": {"caFile": "/none"}},
             "/none: cannot be read"),
            ({"urlPrefix": "http://x", "filterVerb": "a b"}, "\"a b\" cannot be part of a URL"),
        ):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
                json.dump({"apiVersion": "kubescheduler.config.k8s.io/v1",
                           "kind": "KubeSchedulerConfiguration",
                           "leaderElection": {"leaderElect": False},
                           "extenders": [extender]}, config)
                config.flush()
                done = subprocess.run(
                    [*Scheduler.COMMANDS["ours"], f"--config={config.name}",
                     f"--kubeconfig={accounts.kubeconfig(self.plane)}"],
                    capture_output=True, text=True, timeout=30, env=os.environ, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(complaint, done.stderr.strip().splitlines()[-1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
