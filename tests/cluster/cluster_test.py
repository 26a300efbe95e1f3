"""`make cluster` with ten nodes: what it says to try works, and it leaves nothing running."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "cluster"))

# pylint: disable=wrong-import-position
from api_server import ApiServer  # noqa: E402
from gpu_nodes import gpu_node  # noqa: E402
from plane import children_of, is_running  # noqa: E402

PROGRAM = ROOT / "tools" / "cluster" / "cluster.py"
EXAMPLES = ROOT / "examples" / "cluster"
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
APPS = "/apis/apps/v1/namespaces/default"
GROUPS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
MERGE = "application/merge-patch+json"


def descendants_of(pid):
    children = children_of(pid)
    return children + [each for child in children for each in descendants_of(child)]


def wait_until_gone(pids, seconds=60):
    deadline = time.monotonic() + seconds
    while left := [pid for pid in pids if is_running(pid)]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"still running: {left}")
        time.sleep(0.05)


def workload(name, spec=None, **more):
    """What a StatefulSet and a DaemonSet have in common: pods with a label of its name."""
    labels = {"app": name}
    container = {"name": "c", "image": "registry.example/c",
                 "resources": {"requests": {"cpu": "100m"}}}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container], **(spec or {})}}
    return {"metadata": {"name": name},
            "spec": {"selector": {"matchLabels": labels}, "template": pod, **more}}


def on_node(name):
    """The terms by which the pod of a DaemonSet belongs to one node."""
    return [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]


def local_volume(name, node):
    terms = [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]
    return {"metadata": {"name": name}, "spec": {
        "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local", "local": {"path": f"/disks/{name}"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}


def pod_group(name, minimum, **more):
    return {"metadata": {"name": name},
            "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}, **more}}


def pod(name, requests, **more):
    """Of the profile that knows gangs, with a label of its name without the number."""
    container = {"name": "c", "image": "registry.example/c",
                 "resources": {"requests": requests, "limits": requests}}
    return {"metadata": {"name": name, "labels": {"app": name.partition("-")[0]}},
            "spec": {"schedulerName": "kubenexus-scheduler", "containers": [container], **more}}


def has_condition(of, kind):
    return any(each["type"] == kind and each["status"] == "True"
               for each in of["status"].get("conditions", []))


class Cluster:
    """Runs inside a `with`, where it has said what to try next."""

    def __init__(self, *before):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="knx-cluster-"))
        self._command = [*before, sys.executable, "-B", PROGRAM, "up", "--nodes=10",
                         f"--folder={self.folder}"]
        self.said = []

    def __enter__(self):
        self.process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, process_group=0)
        while not self.said or "Ctrl-C ends everything" not in self.said[-1]:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("".join(self.said))
            self.said.append(line)
        self.pids = descendants_of(self.process.pid)
        return self

    def __exit__(self, *_):
        self.process.stdout.close()
        for pid in (self.process.pid, *self.pids):
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end(self, by):
        """What it says at its end, and its exit status."""
        self.process.send_signal(by)
        said = self.process.stdout.read()
        return said, self.process.wait(60)


def run(*arguments):
    done = subprocess.run([sys.executable, "-B", PROGRAM, *arguments], capture_output=True,
                          text=True, check=True)
    return done.stdout


class RunningCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        cls.api = ApiServer.of_folder(cls.cluster.folder)

    def apply(self, name):
        return run("apply", f"--folder={self.cluster.folder}", EXAMPLES / name)

    def phases(self, selector):
        return [pod["status"]["phase"] for pod in
                self.api.get(f"{PODS}?labelSelector={selector}")["items"]]

    def wait_for_running(self, selector, count):
        self.api.wait_for(
            f"{PODS}?labelSelector={selector}",
            lambda got: [pod["status"]["phase"] for pod in got["items"]] == ["Running"] * count)

    def ready(self, selection):
        """What `kubectl get pods` prints under READY."""
        shown = json.loads(self.api.stream(f"{PODS}?{selection}",
                                           "application/json;as=Table;v=v1;g=meta.k8s.io"))
        column = [each["name"] for each in shown["columnDefinitions"]].index("Ready")
        return [row["cells"][column] for row in shown["rows"]]

    def test_a_deployment_runs_and_goes_away(self):
        self.assertEqual(self.apply("web.yaml"), "Deployment web\n")
        self.wait_for_running("app%3Dweb", 12)
        self.api.request("DELETE", "/apis/apps/v1/namespaces/default/deployments/web")
        self.api.wait_for(f"{PODS}?labelSelector=app%3Dweb", lambda got: not got["items"])

    def test_a_job_gets_its_gpus(self):
        self.apply("training.yaml")
        self.wait_for_running("job-name%3Dtraining", 4)
        used = {}
        for pod in self.api.get(f"{PODS}?labelSelector=job-name%3Dtraining")["items"]:
            node = self.api.get(f"{NODES}/{pod['spec']['nodeName']}")
            self.assertIn("H100", node["metadata"]["labels"]["nvidia.com/gpu.product"])
            used[node["metadata"]["name"]] = used.get(node["metadata"]["name"], 0) + 4
        self.assertLessEqual(max(used.values()), 8)

    def test_a_gang_runs_under_the_name_that_knows_gangs(self):
        self.apply("gang.yaml")
        self.wait_for_running("job-name%3Dgang", 4)
        self.assertEqual(self.ready("labelSelector=pod-group.scheduling.kubenexus.io/name%3Dgang"),
                         ["1/1"] * 4)
        of_ours = self.api.get(f"{PODS}?fieldSelector=spec.schedulerName%3Dkubenexus-scheduler")
        names = [pod["metadata"]["name"] for pod in of_ours["items"]]
        self.assertEqual(len([name for name in names if name.startswith("gang-")]), 4, names)
        self.assertEqual({pod["spec"]["schedulerName"] for pod in of_ours["items"]},
                         {"kubenexus-scheduler"})

    def test_a_job_ends_after_the_time_that_its_pods_say(self):
        text = (EXAMPLES / "training.yaml").read_text("utf-8")
        text = text.replace("run-for: 2m", "run-for: 1s").replace("name: training", "name: short")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            self.apply(file.name)
        self.api.wait_for("/apis/batch/v1/namespaces/default/jobs/short",
                          lambda got: got.get("status", {}).get("succeeded") == 4)

    def test_a_stateful_set_comes_up_in_order_and_keeps_its_volumes(self):
        homes = {"disk-a": "gpu-0003", "disk-b": "gpu-0005", "disk-c": "gpu-0009"}
        self.api.create(CLASSES, {"metadata": {"name": "local"},
                                  "provisioner": "kubernetes.io/no-provisioner",
                                  "volumeBindingMode": "WaitForFirstConsumer"})
        for name, node in homes.items():
            self.api.create(VOLUMES, local_volume(name, node))
        since = self.api.get(PODS)["metadata"]["resourceVersion"]
        claim = {"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "resources": {"requests": {"storage": "5Gi"}}}}
        self.api.create(f"{APPS}/statefulsets", workload(
            "db", replicas=3, serviceName="db", volumeClaimTemplates=[claim]))
        self.wait_for_running("app%3Ddb", 3)
        happened = self.order_of("app%3Ddb", since)
        self.assertEqual(happened, [(what, f"db-{number}") for number in range(3)
                                    for what in ("made", "bound", "ready")])
        places = self.places("app%3Ddb")
        for pod, node in places.items():
            claim = self.api.wait_for(f"{CLAIMS}/data-{pod}",
                                      lambda got: got["status"]["phase"] == "Bound")
            self.assertEqual(homes[claim["spec"]["volumeName"]], node, pod)
        old = self.api.get(f"{PODS}/db-1")["metadata"]["uid"]
        self.api.request("DELETE", f"{PODS}/db-1")
        self.api.wait_for(PODS, lambda got: old not in {
            pod["metadata"]["uid"] for pod in got["items"]})
        self.wait_for_running("app%3Ddb", 3)
        self.assertEqual(self.places("app%3Ddb"), places)

    def places(self, selector):
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName")
                for pod in self.api.get(f"{PODS}?labelSelector={selector}")["items"]}

    def order_of(self, selector, since):
        """What first happened to each pod: made, bound, ready."""
        happened = []
        for _, pod in self.api.changes(f"{PODS}?labelSelector={selector}", since):
            for what, holds in (("made", True), ("bound", pod["spec"].get("nodeName")),
                                ("ready", has_condition(pod, "Ready"))):
                if holds and (what, pod["metadata"]["name"]) not in happened:
                    happened.append((what, pod["metadata"]["name"]))
        return happened

    def wait_for_daemons(self, name, nodes):
        """One of its pods on each of these nodes and no others, and nothing left to do."""
        self.api.wait_for(f"{APPS}/daemonsets/{name}", lambda got: (
            got["status"].get("observedGeneration") == got["metadata"]["generation"]
            and got["status"]["desiredNumberScheduled"] == len(nodes)
            and got["status"].get("numberReady") == len(nodes)))
        pods = self.api.get(f"{PODS}?labelSelector=app%3D{name}")["items"]
        self.assertEqual(sorted(pod["spec"]["nodeName"] for pod in pods), sorted(nodes))
        for pod in pods:
            required = pod["spec"]["affinity"]["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"]
            self.assertEqual(required["nodeSelectorTerms"], on_node(pod["spec"]["nodeName"]))

    def test_a_daemon_set_has_one_pod_on_each_node_that_it_tolerates(self):
        nodes = [f"gpu-{number:04}" for number in range(1, 11)]
        taints = [{"key": "example.com/kept", "value": "free", "effect": "NoSchedule"}]
        self.api.request("PATCH", f"{NODES}/gpu-0004", {"spec": {"taints": taints}}, MERGE)
        self.api.create(f"{APPS}/daemonsets", workload("agent"))
        self.api.create(f"{APPS}/daemonsets", workload(
            "everywhere", {"tolerations": [{"operator": "Exists"}]}))
        untainted = [name for name in nodes if name != "gpu-0004"]
        self.wait_for_daemons("agent", untainted)
        self.wait_for_daemons("everywhere", nodes)
        self.api.create(NODES, gpu_node(10))
        self.wait_for_daemons("agent", [*untainted, "gpu-0011"])
        self.wait_for_daemons("everywhere", [*nodes, "gpu-0011"])
        self.api.request("PATCH", f"{NODES}/gpu-0004", {"spec": {"taints": None}}, MERGE)
        self.wait_for_daemons("agent", [*nodes, "gpu-0011"])
        for name in ("agent", "everywhere"):
            self.api.request("DELETE", f"{APPS}/daemonsets/{name}")
            self.api.wait_for(f"{PODS}?labelSelector=app%3D{name}", lambda got: not got["items"])
        self.api.request("DELETE", f"{NODES}/gpu-0011")
        self.api.wait_for(NODES, lambda got: len(got["items"]) == 10)

    def create_members(self, group, count, requests):
        for number in range(count):
            self.api.create(PODS, pod(f"{group}-{number}", requests,
                                      schedulingGroup={"podGroupName": group}))

    def test_a_gang_is_kept_in_the_domain_that_its_object_names(self):
        constraints = {"topology": [{"key": "rack"}]}
        made = self.api.create(GROUPS, pod_group("near", 2, schedulingConstraints=constraints))
        self.assertEqual(made["spec"]["schedulingConstraints"], constraints)
        self.create_members("near", 2, {"cpu": "1"})
        self.wait_for_running("app%3Dnear", 2)
        racks = {self.api.get(f"{NODES}/{node}")["metadata"]["labels"]["rack"]
                 for node in self.places("app%3Dnear").values()}
        self.assertEqual(len(racks), 1)

    def wait_until_gone_from(self, path, name):
        self.api.wait_for(path, lambda got: name not in {
            each["metadata"]["name"] for each in got["items"]})

    def test_a_pod_group_that_is_deleted_goes_with_its_last_pod(self):
        self.api.create(GROUPS, pod_group("empty", 2))
        self.api.request("DELETE", f"{GROUPS}/empty")
        self.wait_until_gone_from(GROUPS, "empty")
        self.api.create(GROUPS, pod_group("used", 2))
        self.create_members("used", 2, {"cpu": "1"})
        self.wait_for_running("app%3Dused", 2)
        self.api.request("DELETE", f"{GROUPS}/used")
        self.api.request("DELETE", f"{PODS}/used-0")
        self.wait_until_gone_from(PODS, "used-0")
        self.assertIn("deletionTimestamp", self.api.get(f"{GROUPS}/used")["metadata"])
        self.api.request("DELETE", f"{PODS}/used-1")
        self.wait_until_gone_from(GROUPS, "used")

    def test_a_pod_group_goes_as_a_whole_where_it_says_so(self):
        for number in (6, 7, 8):
            path = f"{NODES}/gpu-{number:04}"
            self.api.request("PATCH", f"{path}/status",
                             {"status": {"capacity": {"example.com/port": "1"}}}, MERGE)
            self.api.wait_for(path, lambda got: "example.com/port" in got["status"]["allocatable"])
        self.api.create(PRIORITIES, {"metadata": {"name": "urgent"}, "value": 1000})
        self.api.create(GROUPS, pod_group("whole", 2, disruptionMode="PodGroup"))
        self.assertEqual(self.api.get(f"{GROUPS}/whole")["spec"]["disruptionMode"], "PodGroup")
        port = {"example.com/port": "1"}
        self.create_members("whole", 3, port)
        self.wait_for_running("app%3Dwhole", 3)
        self.api.create(PODS, pod("urgent", port, priorityClassName="urgent"))
        self.wait_for_running("app%3Durgent", 1)
        self.api.wait_for(f"{PODS}?labelSelector=app%3Dwhole", lambda got: not got["items"])

    def test_room_can_be_reserved(self):
        path = ("/apis/scheduling.kubenexus.io/v1alpha1/namespaces/default/resourcereservations")
        self.api.create(path, {
            "apiVersion": "scheduling.kubenexus.io/v1alpha1", "kind": "ResourceReservation",
            "metadata": {"name": "later"},
            "spec": {"resources": {"cpu": "1"}, "count": 2, "duration": "1h"}})
        self.api.wait_for(f"{path}/later", lambda got: any(
            each["reason"] == "Held" for each in got.get("status", {}).get("conditions", [])))
        self.api.request("DELETE", f"{path}/later")

    def test_what_is_wrong_is_said_in_one_line(self):
        with tempfile.TemporaryDirectory() as empty:
            for arguments, what in (
                (("apply", f"--folder={self.cluster.folder}", "no-such.yaml"),
                 "cluster: no-such.yaml: No such file or directory\n"),
                (("apply", f"--folder={self.cluster.folder}", "/dev/null"),
                 "cluster: /dev/null: there is no object in it\n"),
                (("pods", f"--folder={empty}"), f"cluster: no cluster runs in {empty}; "
                 "`make cluster` starts one, and --folder=DIR says where another is\n"),
            ):
                done = subprocess.run([sys.executable, "-B", PROGRAM, *arguments],
                                      capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", what))

    def test_what_it_says_to_try_can_be_typed_in_the_folder_of_the_checkout(self):
        said = "".join(self.cluster.said)
        self.assertIn(f"from the folder of the checkout ({ROOT}):", said)
        commands = [line.split() for line in self.cluster.said if line.startswith("  python3 ")]
        for words in commands:
            if words[2] == "apply":
                words.append("--help")  # what they do is tried above
            subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, check=True)

    def test_a_pod_that_fits_nowhere_says_why(self):
        self.apply("too-large.yaml")
        self.api.wait_for(f"{PODS}/too-large", lambda got: got["status"].get("conditions"))
        said = run("pods", f"--folder={self.cluster.folder}")
        self.assertIn("0/10 nodes are available: 10 Insufficient nvidia.com/gpu", said)

    def test_what_is_written_into_the_capacity_of_a_node_becomes_allocatable(self):
        patch = {"status": {"capacity": {"example.com/nic": "3", "cpu": "200"}}}
        self.api.request("PATCH", f"{NODES}/gpu-0002/status", patch, MERGE)
        node = self.api.wait_for(
            f"{NODES}/gpu-0002",
            lambda got: got["status"]["allocatable"].get("example.com/nic") == "3")
        self.assertEqual(node["status"]["allocatable"]["cpu"], "192")
        patch["status"]["capacity"] = {"example.com/nic": "5"}
        self.api.request("PATCH", f"{NODES}/gpu-0002/status", patch, MERGE)
        self.api.wait_for(f"{NODES}/gpu-0002",
                          lambda got: got["status"]["allocatable"]["example.com/nic"] == "5")

    def test_every_node_has_a_heartbeat(self):
        nodes = {f"gpu-{number:04}" for number in range(1, 11)}
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        self.api.wait_for(leases, lambda got: nodes <= {
            lease["metadata"]["name"] for lease in got["items"]})

    def test_a_folder_has_one_cluster_at_most(self):
        done = subprocess.run(
            [sys.executable, "-B", PROGRAM, "up", f"--folder={self.cluster.folder}"],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another cluster runs in", done.stderr)

    def test_the_scheduler_has_the_rights_of_its_service_account_only(self):
        kubeconfig = self.cluster.folder / "kubenexus-scheduler.kubeconfig"
        self.assertNotIn((self.cluster.folder / "admin.token").read_text("ascii"),
                         kubeconfig.read_text("ascii"))
        self.assertEqual(kubeconfig.stat().st_mode & 0o077, 0)


class EndingCluster(unittest.TestCase):
    def test_ends_on_ctrl_c_and_leaves_nothing(self):
        with Cluster() as cluster:
            self.assertEqual(len(cluster.pids), 6)  # etcd, two of Kubernetes, `up`, kwok and ours
            said, status = cluster.end(signal.SIGINT)
            self.assertEqual((said, status), ("\nStopping everything\n", 0))
            wait_until_gone(cluster.pids)
            self.assertFalse(cluster.folder.exists())

    def test_killed_it_leaves_nothing_running(self):
        with Cluster() as cluster:
            cluster.process.kill()
            wait_until_gone(cluster.pids)

    def test_ends_when_what_started_it_is_killed(self):
        with Cluster("bash", "-c", '"$@"; true', "bash") as cluster:
            self.assertEqual(len(cluster.pids), 7)
            cluster.process.kill()
            wait_until_gone(cluster.pids)

    def test_ends_with_the_log_of_a_program_that_ended(self):
        with Cluster() as cluster:
            scheduler = next(pid for pid in cluster.pids if b"/kubenexus-scheduler\0" in
                             pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
            os.kill(scheduler, signal.SIGTERM)
            said = cluster.process.stdout.read()
            self.assertEqual(cluster.process.wait(60), 1)
            self.assertIn("kubenexus-scheduler ended with 0", said)
            wait_until_gone(cluster.pids)

    def test_somebodys_folder_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "mine"
            kept.touch()
            done = subprocess.run([sys.executable, "-B", PROGRAM, "up", f"--folder={folder}"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(kept.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
