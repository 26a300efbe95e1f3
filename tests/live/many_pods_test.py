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
from live_test import Scheduler  # noqa: E402
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


def milli(quantity):
    return int(quantity[:-1]) if quantity.endswith("m") else int(quantity) * 1000


def requested_cpu(of):
    return sum(milli(c["resources"].get("requests", {}).get("cpu", "0"))
               for c in of["spec"]["containers"])


def too_full(plane):
    """The nodes that have more pods or less CPU than they can have."""
    cpu, count = collections.Counter(), collections.Counter()
    for one in every(plane, "/api/v1/pods"):
        where = one["spec"].get("nodeName")
        if where:
            cpu[where] += requested_cpu(one)
            count[where] += 1
    return [n["metadata"]["name"] for n in every(plane, "/api/v1/nodes")
            if cpu[n["metadata"]["name"]] > milli(n["status"]["allocatable"]["cpu"])
            or count[n["metadata"]["name"]] > int(n["status"]["allocatable"]["pods"])]


def places(plane):
    return {p["metadata"]["name"]: p["spec"]["nodeName"]
            for p in every(plane, PODS) if p["spec"].get("nodeName")}


class ManyPods(unittest.TestCase):
    def test_ten_thousand_pods_fill_a_thousand_nodes_and_none_too_much(self):
        with ControlPlane(WITHOUT_OTHERS) as plane:
            load(plane, "fill", "--nodes=1000", "--pods=10000")
            with Scheduler(plane):
                wait_for_count(lambda: len(places(plane)), 10_000)
            self.assertEqual(too_full(plane), [])
            spread = collections.Counter(places(plane).values())
            self.assertEqual(set(spread.values()), {10}, "pods that are alike are spread evenly")

    def test_killed_twenty_times_it_loses_no_pod_and_moves_none(self):
        chance, pods, killed_at = random.Random(20), 5000, []
        with audited(WITHOUT_OTHERS) as (plane, audit):
            load(plane, "fill", "--nodes=500", f"--pods={pods}")
            with Scheduler(plane) as scheduler:
                for _ in range(20):
                    # At once now and then: before it knows what the last one did.
                    some = len(audit.bindings()) + chance.choice((0, 1, 20, 50, 100, 200))
                    wait_for_count(lambda: len(audit.bindings()), some, pause=0.005)
                    scheduler.end(signal.SIGKILL)
                    killed_at.append(len(audit.bindings()))
                    scheduler.start()
                wait_for_count(lambda: len(places(plane)), pods)
            amid = [count for count in killed_at if 0 < count < pods]
            self.assertGreaterEqual(len(amid), 15, killed_at)
            self.assertEqual(audit.bound_otherwise(places(plane)), {})
            self.assertEqual(too_full(plane), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
