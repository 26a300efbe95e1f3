#!/usr/bin/env python3
"""Writes recorded/ anew: what a real API server sends to who watches nodes and pods, in protobuf
and in JSON, while a node gives signs of life and pods come, run and go. storm.cc replays it. The
node, the Deployments and the kubelet (kwok) are those of `make cluster`."""

import concurrent.futures
import datetime
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "cluster"))

from gpu_nodes import gpu_node, is_ready  # noqa: E402
from plane import ControlPlane  # noqa: E402
from running import Process  # noqa: E402

RECORDED = pathlib.Path(__file__).with_name("recorded")
NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
NOT_FAILED = "&fieldSelector=status.phase!%3DFailed"  # as we ask for them
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SECONDS = 25
MERGE = "application/strategic-merge-patch+json"
ENCODINGS = {"pb": "application/vnd.kubernetes.protobuf;stream=watch", "json": "application/json"}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_spec(cpu, scheduler):
    probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10}
    return {
        "schedulerName": scheduler,
        "containers": [{
            "name": "server", "image": "registry.example/team/server:1.27.3",
            "args": ["--listen=0.0.0.0:8080", "--log-level=info"],
            "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    {"name": "REGION", "value": "region-1"}],
            "ports": [{"name": "http", "containerPort": 8080}],
            "readinessProbe": probe, "livenessProbe": probe,
            "resources": {"requests": {"cpu": cpu, "memory": "256Mi"},
                          "limits": {"memory": "512Mi"}},
        }],
    }


def deployment(name):
    """Of another scheduler, so that ours only sees what becomes of its pods."""
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop"}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                 "template": {"metadata": {"labels": labels,
                                           "annotations": {"example.com/revision": "42"}},
                              "spec": pod_spec("50m", "another-scheduler")}},
    }


def pod(name, cpu):
    return {"metadata": {"name": name, "labels": {"app": name}},
            "spec": pod_spec(cpu, "default-scheduler")}


def bind(plane, name, node):
    plane.create(f"{PODS}/{name}/binding",
                 {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                  "target": {"apiVersion": "v1", "kind": "Node", "name": node}})


def run_one(plane, app, node):
    """A Deployment's only pod, once it runs; its name."""
    plane.create(DEPLOYMENTS, deployment(app))
    some = plane.wait_for(PODS, lambda got: [p for p in got["items"]
                                             if p["metadata"]["name"].startswith(app)])
    name = next(p["metadata"]["name"] for p in some["items"]
                if p["metadata"]["name"].startswith(app))
    bind(plane, name, node)
    plane.wait_for(f"{PODS}/{name}", lambda p: p["status"]["phase"] == "Running")
    return name


def beat(plane, node, **status):
    """As a kubelet that has nothing new to say, or something."""
    known = plane.get(f"{NODES}/{node}")["status"]["conditions"]
    conditions = [{**each, "lastHeartbeatTime": now()} for each in known]
    plane.request("PATCH", f"{NODES}/{node}/status",
                  {"status": {"conditions": conditions, **status}}, MERGE)


def turn_ready(plane, name, status):
    condition = {"type": "Ready", "status": status, "lastTransitionTime": now()}
    plane.request("PATCH", f"{PODS}/{name}/status", {"status": {"conditions": [condition]}}, MERGE)


def wait_until_gone(plane, name):
    plane.wait_for(PODS, lambda got: name not in [p["metadata"]["name"] for p in got["items"]])


def happen(plane, node, resident):
    room = plane.get(f"{NODES}/{node}")["status"]["allocatable"]
    for allocatable in (room, room, {**room, "cpu": str(int(room["cpu"]) - 1)}, room):
        time.sleep(1.1)  # times are told in seconds
        beat(plane, node, allocatable=allocatable)
    turn_ready(plane, resident, "False")
    turn_ready(plane, resident, "True")
    passing = run_one(plane, "churn", node)
    plane.request("DELETE", f"{DEPLOYMENTS}/churn")
    wait_until_gone(plane, passing)
    plane.create(PODS, pod("canary-00000", "100m"))
    bind(plane, "canary-00000", node)
    plane.request("DELETE", f"{PODS}/canary-00000?gracePeriodSeconds=0")
    wait_until_gone(plane, "canary-00000")
    plane.create(PODS, pod("waits-00000", "10000"))


def main():
    with ControlPlane("--without=kube-scheduler") as plane, Process(
            plane.folder, "knx-kwok", f"--kubeconfig={plane.folder / 'kubeconfig'}"):
        node = plane.create(NODES, gpu_node(0))["metadata"]["name"]
        plane.wait_for(f"{NODES}/{node}", is_ready)
        resident = run_one(plane, "web", node)
        query = ("watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
                 f"&resourceVersionMatch=NotOlderThan&timeoutSeconds={SECONDS}")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            streams = {f"{kind}.{ending}": pool.submit(
                plane.stream, f"{path}?{query}{more}", accept)
                       for kind, path, more in (("nodes", NODES, ""), ("pods", PODS, NOT_FAILED))
                       for ending, accept in ENCODINGS.items()}
            time.sleep(1)
            happen(plane, node, resident)
            for name, stream in streams.items():
                (RECORDED / name).write_bytes(stream.result())


if __name__ == "__main__":
    main()
