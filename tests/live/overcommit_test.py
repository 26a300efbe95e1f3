"""kube-scheduler beside kubenexus-scheduler, each with pods of its own, on nodes of both."""

import collections
import concurrent.futures
import contextlib
import pathlib
import re
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

from control_plane import ControlPlane  # noqa: E402
from live_test import PODS, condition, node, pod  # noqa: E402
from many_pods_test import WITHOUT_OTHERS, every, too_full  # noqa: E402
from pages_test import Serving  # noqa: E402
from progress import wait_for_count  # noqa: E402
from texts_test import kube_scheduler  # noqa: E402

NODES = "/api/v1/nodes"
NODE_COUNT, PLACES = 20, 10  # small nodes, that are full soon
EACH = NODE_COUNT * PLACES  # pods of each scheduler: twice as many as there is room for
FAST = ("--kube-api-qps=5000", "--kube-api-burst=5000")
CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles: [{schedulerName: kubenexus}]
"""


@contextlib.contextmanager
def both(plane):
    """Gives ours; theirs takes what says nothing else."""
    config = plane.folder / "ours.yaml"
    config.write_text(CONFIG, "utf-8")
    with kube_scheduler(plane, *FAST), Serving(plane, f"--config={config}") as ours:
        yield ours


def pods_of_both():
    """Taking turns, so that both have something to do all the time."""
    return [one for i in range(EACH)
            for one in (pod(f"ours-{i}", schedulerName="kubenexus"), pod(f"theirs-{i}"))]


def nodes():
    return [node(f"n{i}", cpu="1") for i in range(NODE_COUNT)]  # a pod asks for a tenth


class TwoSchedulers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane(WITHOUT_OTHERS))
        cls.admin = (cls.plane.folder / "admin.token").read_text("ascii")
        cls.ours = cls.enterClassContext(both(cls.plane))

    def setUp(self):
        for path in (PODS, NODES):
            self.plane.request("DELETE", f"{path}?gracePeriodSeconds=0")
        for name in ("ours", "theirs"):  # Who is told to wait is there.
            scheduler = {"schedulerName": "kubenexus"} if name == "ours" else {}
            self.plane.create(PODS, pod(name, **scheduler))
            self.plane.wait_for(f"{PODS}/{name}", condition)
            self.plane.request("DELETE", f"{PODS}/{name}")
        self.wait_until(lambda: self.metric("kubenexus_overcommitted_nodes") == 0)
        self.counted_before = self.metric("kubenexus_overcommits_total")

    def metric(self, name):
        status, text = self.ours.get("/metrics", token=self.admin)
        self.assertEqual(status, 200, text)
        return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))

    def wait_until(self, holds, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not come true in time")
            time.sleep(0.2)

    def counts(self):
        """How many pods each node has, as soon as all are full and nothing happens any more."""
        last = None
        def settled():
            nonlocal last
            before, last = last, collections.Counter(
                p["spec"]["nodeName"] for p in every(self.plane, PODS) if p["spec"].get("nodeName"))
            return (before == last and len(last) == NODE_COUNT and min(last.values()) >= PLACES)
        self.wait_until(settled)
        return last

    def excess(self):
        """By how many pods the nodes have too many, and how many are bound."""
        counts = self.counts()
        return ({name: count - PLACES for name, count in counts.items() if count > PLACES},
                sum(counts.values()))

    def counted(self):
        return self.metric("kubenexus_overcommits_total") - self.counted_before

    def check_and_print(self, what):
        # Pods are all alike here and none goes, so that each one too many was counted when it came:
        # not one less, and not one more. Ours that are given up in time are in neither number. On a
        # busy machine bindings come in bursts, between which nothing seems to happen any more.
        end = time.monotonic() + 60
        excess, bound = self.excess()
        while self.counted() != sum(excess.values()) and time.monotonic() < end:
            excess, bound = self.excess()
        total = sum(excess.values())
        self.assertEqual(self.counted(), total)
        self.assertEqual(self.metric("kubenexus_overcommitted_nodes"), len(excess))
        print(f"two schedulers at once, {what}: {total} of {bound} pods are too many, "
              f"{100 * total / bound:.1f} %, on {len(excess)} of {NODE_COUNT} nodes",
              file=sys.stderr)
        return total

    def test_pods_that_come_while_nodes_become_full(self):
        self.plane.create_many(NODES, nodes())
        self.plane.create_many(PODS, pods_of_both())
        self.check_and_print("pods come one after the other")

    def test_nodes_that_come_while_pods_of_both_wait(self):
        self.plane.create_many(PODS, pods_of_both())
        self.plane.wait_for(PODS, lambda got: all(map(condition, got["items"])))
        time.sleep(2)  # Then nobody holds pods back any more, and both take the same node at once.
        self.plane.create_many(NODES, nodes())
        self.check_and_print("nodes come, for which pods of both wait")

    def test_one_that_binds_without_looking(self):
        """Whether the two above get in each other's way is luck; this one does it for certain."""
        self.plane.create_many(NODES, nodes())
        self.plane.create_many(PODS, [pod(f"ours-{i}", schedulerName="kubenexus")
                                      for i in range(EACH)])
        self.counts()
        for i in range(3):
            self.plane.create(PODS, pod(f"blind-{i}", schedulerName="blind"))
            self.plane.create(f"{PODS}/blind-{i}/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"blind-{i}"},
                "target": {"kind": "Node", "name": f"n{i // 2}"}})
        self.assertEqual(self.check_and_print("one binds without looking"), 3)


class SideBySide(unittest.TestCase):
    def fill_to_the_brim(self, plane):
        """Theirs fill a third of the nodes, and then another one while ours come. For ours there is
        no room but on the last: if theirs did not count, some of ours would be among them."""
        def create(name, **spec):
            plane.create_many(PODS, [pod(f"{name}-{i}", **spec) for i in range(500)])

        def wait_for_bound(count):
            wait_for_count(lambda: sum(1 for p in every(plane, PODS) if p["spec"].get("nodeName")),
                           count)

        create("theirs", nodeSelector={"pool": "full"})
        wait_for_bound(500)
        not_away = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "pool", "operator": "NotIn", "values": ["away"]}]}]}}}
        with concurrent.futures.ThreadPoolExecutor() as pool:
            others = pool.submit(create, "their-others", nodeSelector={"pool": "away"})
            create("ours", schedulerName="kubenexus", affinity=not_away)
            others.result()
        wait_for_bound(1500)

    def test_kube_scheduler_is_counted_and_left_alone(self):
        with ControlPlane(WITHOUT_OTHERS) as plane:
            for pool in ("full", "free", "away"):
                plane.create_many(NODES, [node(f"{pool}{i}", cpu="2", pool=pool)
                                          for i in range(25)])
            with both(plane):
                self.fill_to_the_brim(plane)
            self.assertEqual(too_full(plane), [], "there is just enough room for all")
            events = every(plane, "/apis/events.k8s.io/v1/events")
            by = collections.Counter((e["reportingController"], e["regarding"]["name"][:4])
                                     for e in events if e["reason"] == "Scheduled")
            self.assertEqual(set(by), {("default-scheduler", "thei"), ("kubenexus", "ours")}, by)


if __name__ == "__main__":
    unittest.main(verbosity=2)
