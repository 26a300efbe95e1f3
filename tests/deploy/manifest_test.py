"""deploy/kubenexus-scheduler.yaml on a real API server: the daemon works with the rights that it
gives, it gives none that the daemon does not use, and one that is missing is named."""

import contextlib
import copy
import json
import os
import pathlib
import re
import ssl
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tools/cluster", "tests/control_plane", "tests/live"):
    sys.path.insert(0, str(ROOT / folder))

# pylint: disable=wrong-import-position
import pod_group_kinds  # noqa: E402
import service_account  # noqa: E402
from api_server import documents_of  # noqa: E402
import accounts  # noqa: E402
from cable import Cable  # noqa: E402
from plane import ControlPlane  # noqa: E402
from running import Process, free_port, last_lines  # noqa: E402

MANIFEST = ROOT / "deploy" / "kubenexus-scheduler.yaml"
WATCHED_KINDS = ROOT / "src" / "live" / "watched_kinds.cc"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kubenexus-scheduler"
PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kubenexus-scheduler"
USER = f"system:serviceaccount:{service_account.NAMESPACE}:{service_account.NAME}"
AUDIT_POLICY = f"""apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ["{USER}"]
"""

# What the daemon uses at other times than in the run that is audited here.
USED_ELSEWHERE = {
    ("scheduling.k8s.io", "workloads", "watch"): "Kubernetes 1.35 had them instead of podgroups",
}
# What it comes to only where other rights are there.
LOOKS, STATUS = ("", "pods", "get"), ("", "pods/status", "patch")
LATER = {
    LOOKS: "what became of a binding that may have been done",
    STATUS: "whoever may not tell a pod that it has to go does not delete it",
    ("events.k8s.io", "events", "patch"): "an event that was created comes again",
    ("authorization.k8s.io", "subjectaccessreviews", "create"): "it is known who asks for metrics",
}


def node(name, cpu):
    room = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    return {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": room, "capacity": room}}


def pod(name, cpu="100m", **spec):
    container = {"name": "c", "image": "registry.example/c",
                 "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0,
                     "schedulerName": "kubenexus-scheduler", **spec}}


def claiming(name, claim):
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim}}
    return pod(name, volumes=[volume])


def storage_class(name, provisioner):
    return {"metadata": {"name": name}, "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer"}


def claim(name, storage):
    return {"metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": storage,
                     "resources": {"requests": {"storage": "1Gi"}}}}


def local_volume(name, on):
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}
    return {"metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                     "capacity": {"storage": "1Gi"}, "local": {"path": "/disk"},
                     "nodeAffinity": {"required": {
                         "nodeSelectorTerms": [{"matchExpressions": [here]}]}}}}


def condition(of):
    conditions = of["status"].get("conditions", [])
    return next((each for each in conditions if each["type"] == "PodScheduled"), {})


def grants(rules):
    """Each right for itself: group, resource, verb."""
    return {(group, resource, verb) for rule in rules for group in rule["apiGroups"]
            for resource in rule["resources"] for verb in rule["verbs"]}


def rules_of(rights):
    return [{"apiGroups": [group], "resources": [resource], "verbs": [verb]}
            for group, resource, verb in sorted(rights)]


def times_told(log, right):
    """How often a log names a right that is missing."""
    group, resource, verb = right
    ours = (f'not allowed to {verb} {resource}: the ClusterRole needs apiGroups: ["{group}"], '
            f"resources: [{resource}]")
    return log.read_text("utf-8", "replace").replace('\\"', '"').count(ours)


def watched_kinds():
    paths = re.findall(r'\{"/(?:api|apis/([^/]+))/[^/]+/(\w+)"', WATCHED_KINDS.read_text("utf-8"))
    return set(paths)


def files_it_writes(pid):
    """The files on disk that a process has open for writing."""
    files = set()
    for each in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        info = pathlib.Path(f"/proc/{pid}/fdinfo/{each.name}").read_text("ascii")
        flags = int(re.search(r"flags:\s*(\d+)", info).group(1), 8)
        if each.is_file() and flags & os.O_ACCMODE != os.O_RDONLY:
            files.add(str(each.readlink()))
    return files


class Manifest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.audit = cls.folder / "audit.log"
        policy = cls.folder / "audit-policy.yaml"
        policy.write_text(AUDIT_POLICY, "ascii")
        cls.plane = cls.enterClassContext(ControlPlane(
            "--without=kube-scheduler,kube-controller-manager", *pod_group_kinds.API_SERVER_FLAGS,
            f"--kube-apiserver-flag=--audit-policy-file={policy}",
            f"--kube-apiserver-flag=--audit-log-path={cls.audit}"))
        texts = documents_of(MANIFEST.read_text("utf-8"))
        cls.objects = {}
        for made in map(cls.plane.apply, texts):
            cls.objects[made["kind"], made["metadata"]["name"]] = made
        cls.role = cls.objects["ClusterRole", "kubenexus-scheduler"]
        cls.lease_role = cls.objects["Role", "kubenexus-scheduler"]
        cls.create_objects()
        cls.token = accounts.new_token(cls.plane, "somebody")
        cls.kubeconfig = cls.folder / "kubeconfig"
        service_account.write_kubeconfig(cls.plane, cls.kubeconfig)
        cls.configuration = cls.folder / "config.yaml"
        data = cls.objects["ConfigMap", "kubenexus-scheduler"]["data"]
        cls.configuration.write_text(data["config.yaml"], "utf-8")

    @classmethod
    def create_objects(cls):
        create = cls.plane.create
        pod_group_kinds.define(cls.plane, "scheduling.x-k8s.io", "v1alpha1")
        pod_group_kinds.define(cls.plane, "scheduling.volcano.sh", "v1beta1")
        pod_group_kinds.define_reservations(cls.plane)
        for name in ("one", "two"):
            create(NODES, node(name, "2"))
        create("/apis/scheduling.k8s.io/v1/priorityclasses",
               {"metadata": {"name": "high"}, "value": 1000})
        classes = "/apis/storage.k8s.io/v1/storageclasses"
        create(classes, storage_class("local", "kubernetes.io/no-provisioner"))
        create(classes, storage_class("made", "example.com/disks"))

    def create_claims(self):
        """Another volume and other claims for each test: they stay as the daemon left them."""
        name = f"disk-{self.id().rpartition('.')[2].replace('_', '-')}"
        volumes = "/api/v1/persistentvolumes"
        self.plane.create(volumes, local_volume(name, "one"))
        self.plane.request("PATCH", f"{volumes}/{name}/status",
                           {"status": {"phase": "Available"}}, "application/merge-patch+json")
        for storage in ("local", "made"):
            self.plane.create("/api/v1/namespaces/default/persistentvolumeclaims",
                              claim(f"{storage}-{name}", storage))
            self.plane.create(PODS, claiming(f"with-{storage}-volume", f"{storage}-{name}"))

    def create_group(self):
        """Another for each test, too: without controllers one that is deleted does not go."""
        name = f"large-{self.id().rpartition('.')[2].replace('_', '-')}"
        self.plane.create(pod_group_kinds.NATIVE, pod_group_kinds.native(name, 2))
        for member in ("large-a", "large-b"):
            self.plane.create(PODS, pod(member, "64", schedulingGroup={"podGroupName": name}))

    def setUp(self):
        """With these pods the daemon writes everything that it can write."""
        self.set_rules(self.role["rules"])
        self.plane.create(pod_group_kinds.RESERVATIONS, {
            "apiVersion": "scheduling.kubenexus.io/v1alpha1", "kind": "ResourceReservation",
            "metadata": {"name": "later"}, "spec": {"resources": {"cpu": "64"}}})
        for name in ("one", "two"):  # Victims, so that there is no room without preemption.
            self.plane.create(PODS, pod(f"low-{name}", "1500m", nodeName=name))
        self.plane.create(PODS, pod("fits"))
        self.plane.create(PODS, pod("too-large", "64"))
        self.create_group()
        self.create_claims()
        # On the node that has no disk: the room that is promised to it is not there for others.
        self.plane.create(PODS, pod("vip", "1", priorityClassName="high",
                                    nodeSelector={"kubernetes.io/hostname": "two"}))

    def tearDown(self):
        for path in (PODS, "/apis/events.k8s.io/v1/namespaces/default/events",
                     pod_group_kinds.RESERVATIONS):
            self.plane.request("DELETE", f"{path}?gracePeriodSeconds=0")
        self.plane.wait_for(PODS, lambda got: not got["items"])

    def set_rules(self, rules):
        role = self.plane.get(ROLE)
        role["rules"] = rules
        self.plane.request("PUT", ROLE, role)

    def start_scheduler(self, kubeconfig=None):
        self.port = free_port()
        made = Process(self.folder, "kubenexus-scheduler",
                       f"--kubeconfig={kubeconfig or self.kubeconfig}",
                       f"--config={self.configuration}", "--bind-address=127.0.0.1",
                       f"--secure-port={self.port}")
        made.log.unlink(missing_ok=True)
        return made

    def ask_for_metrics(self):
        """With the token of somebody; the status of the answer, 0 if there was none."""
        tls = ssl._create_unverified_context()  # pylint: disable=protected-access
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}/metrics",
                                         headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, context=tls, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def make_it_do_what_it_does_later(self, running):
        """Asks for metrics, and lets a pod that was refused be refused once more."""
        self.wait_until(self.ask_for_metrics, lambda: last_lines(running.log))
        self.plane.wait_for(f"{PODS}/too-large", condition)
        self.plane.request("DELETE", f"{PODS}/low-one?gracePeriodSeconds=0")

    def wait_until(self, holds, what, seconds=30):
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, what())
            time.sleep(0.05)

    def wait_for_refusals(self, running, rights):
        def missing():
            return [right for right in sorted(rights) if not times_told(running.log, right)]

        self.wait_until(lambda: not missing(),
                        lambda: f"not told: {missing()}\n{last_lines(running.log)}")

    def check_that_it_names(self, missing, then=lambda running: None):
        self.set_rules(rules_of(grants(self.role["rules"]) - missing))
        with self.start_scheduler() as running:
            then(running)
            self.wait_for_refusals(running, missing)
            time.sleep(3)  # So that what fails is tried again.
        errors = [line for line in running.log.read_text("utf-8").splitlines()
                  if line.startswith("E") and "not allowed" in line]
        self.assertEqual(len(errors), len(missing), "\n".join(errors))

    def all_grants(self):
        return grants(self.role["rules"]) | grants(self.lease_role["rules"])

    def used(self):
        """What the daemon asked of the API server, and what it was refused."""
        asked, refused = set(), set()
        for line in self.audit.read_text("utf-8").splitlines():
            event = json.loads(line)
            what = event.get("objectRef")
            if what is None:  # Discovery, which everybody may do.
                continue
            resource = "/".join(filter(None, (what["resource"], what.get("subresource"))))
            right = (what.get("apiGroup", ""), resource, event["verb"])
            asked.add(right)
            if event["responseStatus"]["code"] == 403:
                refused.add(right)
        return asked, refused

    def test_what_is_watched_may_be_listed_and_watched_and_nothing_else(self):
        for verb in ("list", "watch"):
            granted = {(group, kind) for group, kind, with_verb in grants(self.role["rules"])
                       if with_verb == verb}
            self.assertEqual(granted, watched_kinds())

    def test_two_replicas_that_run_as_nobody_with_probes(self):
        deployment = self.objects["Deployment", "kubenexus-scheduler"]["spec"]
        self.assertEqual(deployment["replicas"], 2)
        spec = deployment["template"]["spec"]
        self.assertTrue(spec["securityContext"]["runAsNonRoot"])
        container = spec["containers"][0]
        self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
        for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
            self.assertEqual(container[probe]["httpGet"]["path"], path)
            self.assertEqual(container[probe]["httpGet"]["scheme"], "HTTPS")

    def test_everything_of_it_is_in_kube_system(self):
        spaces = {made["metadata"].get("namespace") for made in self.objects.values()}
        self.assertEqual(spaces - {None}, {"kube-system"})
        running = self.objects["Deployment", "kubenexus-scheduler"]
        self.assertEqual(running["metadata"]["namespace"], "kube-system")

    def test_it_keeps_nothing_on_disk(self):
        spec = self.objects["Deployment", "kubenexus-scheduler"]["spec"]["template"]["spec"]
        self.assertEqual([set(volume) for volume in spec["volumes"]], [{"name", "configMap"}])
        for container in spec["containers"]:
            self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        before = set(self.folder.iterdir())
        with self.start_scheduler() as running:
            self.plane.wait_for(f"{PODS}/fits", lambda got: got["spec"].get("nodeName"))
            self.assertEqual(files_it_writes(running.process.pid), {str(running.log)})
        self.assertEqual(set(self.folder.iterdir()) - before - {running.log}, set())

    def test_the_rights_are_enough_and_all_of_them_are_used(self):
        self.audit.write_text("", "ascii")
        expected = {right for right in self.all_grants()
                    if right[2] != "list" and right not in USED_ELSEWHERE}

        def missing():
            return expected - self.used()[0]

        with contextlib.suppress(urllib.error.HTTPError):  # The first one there ever was.
            self.plane.request("DELETE", LEASE)
        with Cable(self.plane, self.kubeconfig) as cable, \
                self.start_scheduler(cable.kubeconfig) as running:
            for name in ("fits", "vip"):
                self.plane.wait_for(f"{PODS}/{name}", lambda got: got["spec"].get("nodeName"))
            self.make_it_do_what_it_does_later(running)
            self.wait_until(lambda: missing() <= {LOOKS},
                            lambda: f"never used: {missing()}\n{last_lines(running.log)}")
            self.cut_amid_bindings(cable, lambda: not missing())
        asked, refused = self.used()
        self.assertEqual(refused, set())
        self.assertLessEqual({right for right in asked if right[1] != "configmaps"},
                             self.all_grants())

    def cut_amid_bindings(self, cable, done):
        """Until it had to look what became of one."""
        for attempt in range(20):
            # Many wait for one node, so that many bindings are sent at once.
            here = f"cut-{attempt}"
            self.plane.create_many(PODS, [
                pod(f"{here}-{i}", "1m", nodeSelector={"kubernetes.io/hostname": here})
                for i in range(100)])
            self.plane.wait_for(f"{PODS}/{here}-99", lambda got: got["status"].get("conditions"))
            self.plane.create(NODES, node(here, "2"))
            time.sleep(0.01 * (1 + attempt % 5))
            cable.cut()
            for _ in range(20):
                if done():
                    return
                time.sleep(0.1)
        self.fail("it never looked what became of a binding")

    def test_every_kind_that_it_may_not_watch_is_named(self):
        self.check_that_it_names({right for right in grants(self.role["rules"])
                                  if right[2] == "watch" and right not in USED_ELSEWHERE})

    def test_everything_that_it_may_not_write_is_named(self):
        rights = {right for right in grants(self.role["rules"])
                  if right[2] not in ("watch", "list") and right not in USED_ELSEWHERE}
        self.check_that_it_names(rights - set(LATER), lambda _: self.wait_until(
            self.ask_for_metrics, lambda: "its pages are not there"))

    def test_what_it_may_not_do_after_that_is_named(self):
        self.check_that_it_names(set(LATER) - {LOOKS, STATUS}, self.make_it_do_what_it_does_later)

    def test_that_it_may_not_write_a_status_is_named(self):
        self.check_that_it_names({STATUS})

    def test_it_goes_on_once_a_missing_right_is_given(self):
        nodes = ("", "nodes", "list")  # What is there is listed before it is watched.
        self.set_rules(rules_of(grants(self.role["rules"]) - {nodes, ("", "nodes", "watch")}))
        with self.start_scheduler() as running:
            self.wait_for_refusals(running, {nodes})
            self.assertEqual(times_told(running.log, nodes), 1)
            self.set_rules(copy.deepcopy(self.role["rules"]))
            self.plane.wait_for(f"{PODS}/fits", lambda got: got["spec"].get("nodeName"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
