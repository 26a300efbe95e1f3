"""kubenexus-scheduler on API servers of other releases: `make test-compat`.

compat_test.py [RELEASE]...: those below if none is named, oldest first."""

import json
import pathlib
import ssl
import sys
import tempfile
import time
import unittest
import urllib.request

from old_api_servers import ROOT, OldControlPlane, build
from whole_node_extender import THING, WholeNodeExtender

sys.path.insert(0, str(ROOT / "tools" / "cluster"))

# pylint: disable=wrong-import-position
import service_account  # noqa: E402
from api_server import documents_of  # noqa: E402
from running import free_port, last_lines, scheduler  # noqa: E402

RELEASES = (
    "1.29.6",
    "1.33.13",
    "1.35.4",
    "1.36.3",
)

CONFIGURATION = ROOT / "tools" / "cluster" / "scheduler.yaml"
MANIFEST = ROOT / "deploy" / "kubenexus-scheduler.yaml"
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


def node(name, cpu):
    room = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    return {"metadata": {"name": name}, "status": {"allocatable": room, "capacity": room}}


def pod(name, cpu, **spec):
    container = {"name": "c", "image": "registry.example/c",
                 "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}}


def condition(of):
    conditions = of["status"].get("conditions", [])
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})


def is_bound(got):
    return got["spec"].get("nodeName")


def wait_until_ready(port):
    """Whether a scheduler comes to know its cluster."""
    trusting = ssl._create_unverified_context()  # pylint: disable=protected-access
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/readyz", context=trusting):
                return True
        except OSError:
            time.sleep(0.1)
    return False


class Release(unittest.TestCase):
    """The tests; a class for each release is made of it below."""

    release = None

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plane = cls.enterClassContext(OldControlPlane(build(cls.release)))
        for document in documents_of(MANIFEST.read_text("utf-8")):
            cls.plane.apply(document)
        kubeconfig = folder / "kubeconfig"
        service_account.write_kubeconfig(cls.plane, kubeconfig)
        cls.plane.create("/api/v1/nodes", node("only", "4"))
        cls.extender = cls.enterClassContext(WholeNodeExtender())
        configuration = folder / "scheduler.yaml"
        extenders = json.dumps([cls.extender.configuration()])
        configuration.write_text(f"{CONFIGURATION.read_text('utf-8')}extenders: {extenders}\n",
                                 "utf-8")
        cls.arguments = kubeconfig, configuration
        cls.scheduler = cls.enterClassContext(scheduler(folder, *cls.arguments))

    def tearDown(self):
        self.plane.request("DELETE", f"{PODS}?gracePeriodSeconds=0")
        self.plane.wait_for(PODS, lambda got: not got["items"])

    def wait_for(self, path, holds):
        try:
            return self.plane.wait_for(path, holds, timeout=30)
        except TimeoutError as error:
            error.add_note(last_lines(self.scheduler.log))
            raise

    def test_is_of_that_release(self):
        self.assertEqual(self.plane.get("/version")["gitVersion"], f"v{self.release}")

    def test_pods_are_bound_and_people_are_told(self):
        for number in range(20):
            self.plane.create(PODS, pod(f"p{number}", "100m"))
        self.wait_for(PODS, lambda got: all(map(is_bound, got["items"])))
        self.wait_for(EVENTS, lambda got: "Scheduled" in {e["reason"] for e in got["items"]})

    def test_a_pod_that_fits_nowhere_says_why_and_is_bound_once_it_fits(self):
        self.plane.create(PODS, pod("large", "6"))
        said = condition(self.wait_for(f"{PODS}/large", condition))
        self.assertEqual(
            (said["reason"], said["message"]),
            ("Unschedulable",
             "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
             "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."))
        self.plane.create("/api/v1/nodes", node("larger", "8"))
        self.wait_for(f"{PODS}/large", is_bound)
        self.plane.request("DELETE", "/api/v1/nodes/larger")

    def test_a_more_important_pod_gets_the_room_of_a_less_important_one(self):
        self.plane.create("/apis/scheduling.k8s.io/v1/priorityclasses",
                          {"metadata": {"name": "high"}, "value": 1000})
        self.plane.create(PODS, pod("low", "3"))
        self.wait_for(f"{PODS}/low", is_bound)
        self.plane.create(PODS, pod("vip", "3", priorityClassName="high"))
        self.wait_for(f"{PODS}/vip", is_bound)
        self.assertEqual([each["metadata"]["name"] for each in self.plane.get(PODS)["items"]],
                         ["vip"])

    def test_an_extender_is_sent_whole_nodes(self):
        asking = pod("asking", "100m")
        amounts = {"cpu": "100m", THING: "1"}
        asking["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
        self.plane.create(PODS, asking)
        self.wait_for(f"{PODS}/asking", is_bound)
        self.assertIn("only", self.extender.nodes[0])

    def test_what_a_release_does_not_know_is_no_trouble(self):
        self.plane.create(PODS, pod("any", "100m"))
        self.wait_for(f"{PODS}/any", is_bound)
        log = self.scheduler.log.read_text("utf-8", "replace")
        self.assertNotIn("could not find the requested resource", log)

    def test_what_is_there_is_streamed_or_listed_where_it_cannot_be(self):
        folder, port = self.enterContext(tempfile.TemporaryDirectory()), free_port()
        # It waits for the lease of the other.
        streams = self.enterContext(scheduler(
            folder, *self.arguments, "--feature-gates=WatchListClient=true", port=port))
        ready = wait_until_ready(port)
        log = streams.log.read_text("utf-8", "replace")
        self.assertTrue(ready, log)
        # That such a server has to be asked for lists may be told, but not again and again.
        self.assertLessEqual(log.count("sendInitialEvents is forbidden"), 1, log)


def load_tests(loader, *_):
    suite = unittest.TestSuite()
    for release in RELEASES_WANTED:
        case = type(f"Release {release}", (Release,), {"release": release})
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    RELEASES_WANTED = sys.argv[1:] or RELEASES
    unittest.main(argv=sys.argv[:1], verbosity=2)
