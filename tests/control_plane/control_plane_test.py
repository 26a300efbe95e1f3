#!/usr/bin/env python3
"""control_plane_test.py: bin/knx-control-plane is a working Kubernetes, and leaves nothing behind.

Takes half a minute. What kube-scheduler says is compared with bin/knx-oracle."""

import json
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest

from control_plane import PROGRAM, ROOT, ControlPlane, is_running

ORACLE = ROOT / "bin" / "knx-oracle"
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"

# The oracle has this plugin only if it is named, kube-scheduler has it always.
WITH_DYNAMIC_RESOURCES = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "DynamicResources"}]}}}],
}


def node(name, cpu):
    room = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod_spec(cpu, **more):
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    return {"containers": [container], **more}


def pod(name, cpu, **more):
    return {"metadata": {"name": name}, "spec": pod_spec(cpu, **more)}


def condition(of):
    """The condition that tells whether a pod was scheduled; empty if there is none yet."""
    conditions = of.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})


class ReadyControlPlane(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        for number in (1, 2):
            cls.plane.create(NODES, node(f"node-{number}", "4"))

    def ask_oracle(self, name):
        objects = [
            {**each, "apiVersion": "v1", "kind": kind}
            for kind, path in (("Node", NODES), ("Pod", PODS))
            for each in self.plane.get(path)["items"]
        ]
        for each in objects:
            if each["metadata"]["name"] == name:  # As it was before it was tried.
                each["status"].pop("conditions")
        question = {
            "id": name,
            "config": WITH_DYNAMIC_RESOURCES,
            "objects": objects,
            "pods": [f"default/{name}"],
            "preempt": True,
        }
        answered = subprocess.run(
            [ORACLE], input=json.dumps(question), capture_output=True, text=True, check=True
        )
        return json.loads(answered.stdout)["pods"][0]

    def test_says_which_release_it_is(self):
        self.assertEqual(self.plane.get("/version")["gitVersion"], "v1.36.3")

    def test_kube_scheduler_binds_a_pod(self):
        self.plane.create(PODS, pod("fits", "1"))
        placed = self.plane.wait_for(f"{PODS}/fits", lambda got: got["spec"].get("nodeName"))
        self.assertIn(placed["spec"]["nodeName"], ("node-1", "node-2"))

    def test_kube_scheduler_says_of_a_pod_that_fits_nowhere_what_the_oracle_says(self):
        selective = {"nodeSelector": {"kubernetes.io/hostname": "node-1"}}
        for name, wanted in {
            "too-large": pod("too-large", "64"),
            "too-selective": pod("too-selective", "64", **selective),
        }.items():
            with self.subTest(name):
                self.plane.create(PODS, wanted)
                tried = self.plane.wait_for(f"{PODS}/{name}", condition)
                expected = self.ask_oracle(name)
                self.assertEqual(condition(tried)["reason"], expected["reason"])
                self.assertEqual(condition(tried)["message"], expected["message"])
                self.assertIn("0/2 nodes are available", expected["message"])

    def test_kube_scheduler_tells_in_an_event_why(self):
        self.plane.create(PODS, pod("told", "64"))
        events = self.plane.wait_for(
            "/api/v1/namespaces/default/events?fieldSelector="
            "involvedObject.name=told,reason=FailedScheduling",
            lambda got: got["items"],
        )
        self.assertIn("Insufficient cpu", events["items"][0]["message"])

    def test_controllers_make_pods_of_a_deployment(self):
        labels = {"app": "three"}
        self.plane.create(
            "/apis/apps/v1/namespaces/default/deployments",
            {
                "metadata": {"name": "three"},
                "spec": {
                    "replicas": 3,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": pod_spec("100m")},
                },
            },
        )
        self.plane.wait_for(
            f"{PODS}?labelSelector=app%3Dthree",
            lambda got: sum(1 for each in got["items"] if each["spec"].get("nodeName")) == 3,
        )

    def test_a_folder_has_one_control_plane_at_most(self):
        second = subprocess.run(
            [PROGRAM, "up", self.plane.folder], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False,
        )
        self.assertEqual(second.returncode, 1)
        self.assertIn("another control plane runs there", second.stderr)


class EndingControlPlane(unittest.TestCase):
    def assert_gone(self, pids):
        deadline = time.monotonic() + 10
        while left := [pid for pid in pids if is_running(pid)]:
            self.assertLess(time.monotonic(), deadline, f"still running: {left}")
            time.sleep(0.05)

    def test_ends_with_its_input_and_goes_on_where_it_was(self):
        with ControlPlane("--without=kube-scheduler,kube-controller-manager") as plane:
            children = plane.children()
            self.assertEqual(len(children), 2)
            plane.create(NODES, node("kept", "4"))
            self.assertEqual(plane.stop(), 0)
            self.assert_gone(children)
            plane.start()
            self.assertEqual(plane.get(f"{NODES}/kept")["status"]["capacity"]["cpu"], "4")

    def test_ends_on_a_signal(self):
        with ControlPlane("--without=kube-controller-manager") as plane:
            children = plane.children()
            self.assertEqual(len(children), 3)
            plane.process.terminate()
            self.assertEqual(plane.process.wait(60), 0)
            self.assert_gone(children)

    def test_leaves_nothing_running_when_it_is_killed(self):
        with ControlPlane() as plane:
            children = plane.children()
            self.assertEqual(len(children), 4)
            plane.process.kill()
            plane.process.wait()
            self.assert_gone(children)

    def failed_start(self, *flags):
        """What is told when it cannot start, though its input stays open."""
        with tempfile.TemporaryDirectory() as folder:
            command = [PROGRAM, "up", *flags, folder]
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as process:
                told = process.stderr.read()
                self.assertEqual(process.wait(60), 1)
        return told

    def test_ends_with_the_log_of_the_component_that_failed(self):
        told = self.failed_start("--kube-apiserver-flag=--no-such-flag")
        self.assertIn("kube-apiserver ended (exit status 1)", told)
        self.assertIn("unknown flag: --no-such-flag", told)

    def test_shares_no_port_with_others(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            told = self.failed_start(f"--secure-port={other.getsockname()[1]}")
        self.assertIn("address already in use", told)

    def test_ends_even_before_it_is_ready(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [PROGRAM, "up", folder], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=60, check=False,
            )
        self.assertEqual(ended.returncode, 1)
        self.assertIn("stopped before it was ready", ended.stderr)

    def test_writes_into_no_folder_of_others(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "mine"
            kept.touch()
            ended = subprocess.run(
                [PROGRAM, "up", folder], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                check=False,
            )
            self.assertEqual(ended.returncode, 1)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [kept])


class Usage(unittest.TestCase):
    def test_wrong_arguments_are_refused(self):
        for arguments in ("", "kubelet", "up", "up a b", "up --without=etcd a", "up --fly a"):
            with self.subTest(arguments):
                command = [PROGRAM, *arguments.split()]
                ended = subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, check=False
                )
                self.assertEqual(ended.returncode, 2)


if __name__ == "__main__":
    unittest.main()
