"""Many pods on a real API server: nothing lost, nothing bound twice, nothing too full."""

import collections
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest
import urllib.error

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

from audit import audited  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from live_test import Scheduler, node  # noqa: E402
from progress import wait_for_count  # noqa: E402

LOAD = ROOT / "bin" / "live-load"
PODS = "/api/v1/namespaces/bench/pods"
WITHOUT_OTHERS = "--without=kube-scheduler,kube-controller-manager"


def load(plane, what, *flags):
    """Creates nodes and pods faster than Python could."""
    subprocess.run([LOAD, what, f"--kubeconfig={plane.folder}/kubeconfig", *flags], check=True,
                   stdout=subprocess.DEVNULL)


def get_patiently(plane, path):
    """A server with much to do may ask to come back later."""
    for _ in range(20):
        try:
            return plane.get(path)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 504):
                raise
            time.sleep(1)
    return plane.get(path)


def every(plane, path):
    """All objects of a list, page by page."""
    items, more = [], ""
    while True:
        page = get_patiently(plane, f"{path}?limit=2000{more}")
        items += page["items"]
        if not page["metadata"].get("continue"):
            return items
        more = f"&continue={page['metadata']['continue']}"


def amount(quantity):
    """In thousandths."""
    units = {"": 1000, "m": 1, "Mi": 1000 << 20, "Gi": 1000 << 30}
    digits = quantity.rstrip("miMG")
    return int(digits) * units[quantity[len(digits):]]


def requested(of):
    wanted = collections.Counter({"pods": 1000})
    for container in of["spec"]["containers"]:
        for what, quantity in container["resources"].get("requests", {}).items():
            wanted[what] += amount(quantity)
    return wanted


def too_full(plane):
    """The nodes whose pods ask for more than there is: CPU, memory, or places."""
    used = collections.defaultdict(collections.Counter)
    for one in every(plane, "/api/v1/pods"):
        if where := one["spec"].get("nodeName"):
            used[where].update(requested(one))
    return [n["metadata"]["name"] for n in every(plane, "/api/v1/nodes")
            if any(used[n["metadata"]["name"]][what] > amount(quantity)
                   for what, quantity in n["status"]["allocatable"].items())]


def fill(plane, nodes, pods):
    """As many pods as there is room for: they all fit only if every node gets just its share. A
    third of the nodes has no CPU to spare, a third no memory, a third no places."""
    share = pods // nodes
    plenty = {"cpu": "64", "memory": "256Gi", "pods": "500"}
    scarce = ({"cpu": f"{share * 100}m"}, {"memory": f"{share * 500}Mi"}, {"pods": str(share)})
    plane.create_many("/api/v1/nodes", [
        node(f"n{i}", **{**plenty, **scarce[i % len(scarce)]}) for i in range(nodes)])
    load(plane, "fill", f"--pods={pods}")  # each asks for 100m and 500Mi


def places(plane):
    return {p["metadata"]["name"]: p["spec"]["nodeName"]
            for p in every(plane, PODS) if p["spec"].get("nodeName")}


def wait_until_nothing_is_written(plane, seconds=0.3):
    """What a client has sent before it was killed may still be done."""
    version, since = None, time.monotonic()
    while time.monotonic() - since < seconds:
        now = get_patiently(plane, f"{PODS}?limit=1")["metadata"]["resourceVersion"]
        if now != version:
            version, since = now, time.monotonic()
        time.sleep(0.02)


class ManyPods(unittest.TestCase):
    def test_ten_thousand_pods_fill_a_thousand_nodes_and_none_too_much(self):
        with ControlPlane(WITHOUT_OTHERS) as plane:
            fill(plane, nodes=1000, pods=10_000)
            with Scheduler(plane):
                wait_for_count(lambda: len(places(plane)), 10_000)
            self.assertEqual(too_full(plane), [])
            spread = collections.Counter(places(plane).values())
            self.assertEqual(set(spread.values()), {10}, "no room is left anywhere")

    def test_killed_twenty_times_it_loses_no_pod_and_moves_none(self):
        chance, pods, killed_at = random.Random(20), 5000, []
        with audited(WITHOUT_OTHERS) as (plane, audit):
            fill(plane, nodes=500, pods=pods)
            with Scheduler(plane) as scheduler:
                for _ in range(20):
                    # At once now and then: before it knows what the last one did.
                    some = len(audit.bindings()) + chance.choice((0, 1, 20, 50, 100, 200))
                    wait_for_count(lambda: len(audit.bindings()), some, pause=0.005)
                    scheduler.end(signal.SIGKILL)
                    killed_at.append(len(audit.bindings()))
                    # A new leader has to wait for the lease for much longer than that. Whoever
                    # works without one, and at once, may give away room that is taken.
                    wait_until_nothing_is_written(plane)
                    scheduler.start()
                wait_for_count(lambda: len(places(plane)), pods)
            amid = [count for count in killed_at if 0 < count < pods]
            self.assertGreaterEqual(len(amid), 15, killed_at)
            self.assertEqual(audit.bound_otherwise(places(plane)), {})
            self.assertEqual(too_full(plane), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
