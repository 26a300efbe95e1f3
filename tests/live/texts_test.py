"""Pods that cannot be placed say the same with kubenexus-scheduler as with kube-scheduler."""

import contextlib
import pathlib
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "control_plane"))

from control_plane import ControlPlane  # noqa: E402
from live_test import EVENTS, PODS, Scheduler, condition, node, pod  # noqa: E402

ZONE = "topology.kubernetes.io/zone"


def needs(expressions):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": expressions}]}}}


def near(kind, key, labels):
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": labels}}]}}


def spread(key, labels, **more):
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": labels}, **more}]


def claim(name):
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]


def asking(name, **requests):
    made = pod(name)
    made["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": requests}
    return made


def with_port(name, number):
    made = pod(name)
    made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": number}]
    return made


def labelled(of, **labels):
    of["metadata"]["labels"] = labels
    return of


def failing_pods():
    """Twenty reasons not to be placed."""
    return [
        pod("cpu", cpu="64"),
        asking("memory", memory="1Ti"),
        asking("gpu", **{"example.com/gpu": "8"}),
        asking("storage", **{"ephemeral-storage": "1Ti"}),
        pod("selector", nodeSelector={"disk": "nvme"}),
        pod("affinity", affinity=needs([{"key": "gen", "operator": "Gt", "values": ["9"]}])),
        pod("not-there", affinity=needs([{"key": "zone", "operator": "DoesNotExist"},
                                         {"key": ZONE, "operator": "NotIn",
                                          "values": ["a", "b"]}])),
        pod("on-tainted", nodeSelector={"pool": "tainted"}),
        pod("on-cordoned", nodeSelector={"pool": "cordoned"}),
        with_port("port", 8080),
        pod("no-neighbour", affinity=near("podAffinity", ZONE, {"app": "nobody"})),
        pod("too-near", affinity=near("podAntiAffinity", ZONE, {"app": "here"})),
        labelled(pod("spread", topologySpreadConstraints=spread("rack", {"app": "web"})),
                 app="web"),
        labelled(pod("domains", topologySpreadConstraints=spread(ZONE, {"app": "here"},
                                                                 minDomains=5)), app="here"),
        pod("no-claim", volumes=claim("missing")),
        pod("unbound-claim", volumes=claim("immediate")),
        pod("unknown-class", volumes=claim("classless")),
        pod("mixed", cpu="7", nodeSelector={ZONE: "a"}),
        pod("never", cpu="64", priorityClassName="polite"),
        pod("urgent", cpu="64", priorityClassName="urgent"),
    ]


def build(plane):
    """A few nodes that are all different, and what is on them."""
    for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b")):
        plane.create("/api/v1/nodes", node(name, **{ZONE: zone, "gen": "3"}))
    tainted = node("n4", **{ZONE: "b", "pool": "tainted"})
    tainted["spec"] = {"taints": [{"key": "team", "value": "x", "effect": "NoSchedule"}]}
    cordoned = node("n5", **{ZONE: "b", "pool": "cordoned"})
    cordoned["spec"] = {"unschedulable": True}
    for one in (tainted, cordoned):
        plane.create("/api/v1/nodes", one)
    for i in range(1, 4):
        there = labelled(with_port(f"there-{i}", 8080), app="here")
        there["spec"]["nodeName"] = f"n{i}"
        there["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
        plane.create(PODS, there)
    for name, value, policy in (("urgent", 1000, "PreemptLowerPriority"), ("polite", 500, "Never")):
        plane.create("/apis/scheduling.k8s.io/v1/priorityclasses",
                     {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                      "metadata": {"name": name}, "value": value, "preemptionPolicy": policy})
    plane.create("/apis/storage.k8s.io/v1/storageclasses",
                 {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
                  "metadata": {"name": "fast"}, "provisioner": "example.com/none",
                  "volumeBindingMode": "Immediate"})
    for name, storage_class in (("immediate", "fast"), ("classless", "unknown")):
        plane.create("/api/v1/namespaces/default/persistentvolumeclaims",
                     {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                      "metadata": {"name": name},
                      "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
                               "resources": {"requests": {"storage": "1Gi"}}}})


def verdicts(plane, names):
    """What conditions and events say about each pod; None as long as one says nothing."""
    said = {}
    events = plane.get(EVENTS)["items"]
    for name in names:
        about = condition(plane.get(f"{PODS}/{name}"))
        notes = [e for e in events if e["regarding"]["name"] == name]
        if not about or not notes:
            return None
        event = notes[0]
        said[name] = (about["status"], about.get("reason"), about.get("message"), event["type"],
                      event["reason"], event["action"], event["reportingController"], event["note"])
    return said


class Texts(unittest.TestCase):
    maxDiff = None

    def run_with(self, plane, scheduler):
        pods = failing_pods()
        names = [p["metadata"]["name"] for p in pods]
        with scheduler:
            for one in pods:
                plane.create(PODS, one)
            end = time.monotonic() + 60
            while (said := verdicts(plane, names)) is None:
                self.assertLess(time.monotonic(), end, "some pods got no condition")
                time.sleep(0.2)
        for name in names:
            plane.request("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        plane.request("DELETE", EVENTS)
        return said

    def test_twenty_pods_that_cannot_be_placed(self):
        with ControlPlane("--without=kube-scheduler,kube-controller-manager") as plane:
            build(plane)
            theirs = self.run_with(plane, kube_scheduler(plane))
            ours = self.run_with(plane, Scheduler(plane))
        self.assertEqual({name: said[0] for name, said in theirs.items()},
                         {p["metadata"]["name"]: "False" for p in failing_pods()})
        for name, said in theirs.items():
            with self.subTest(pod=name):
                self.assertEqual(ours[name], said)


@contextlib.contextmanager
def kube_scheduler(plane, *flags):
    process = subprocess.Popen(
        [ROOT / "bin" / "knx-control-plane", "kube-scheduler", "--secure-port=0",
         f"--kubeconfig={plane.folder}/kube-scheduler.kubeconfig", "--leader-elect=false",
         *flags],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=plane.folder)
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    unittest.main(verbosity=2)
