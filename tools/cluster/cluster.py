#!/usr/bin/env python3
"""A Kubernetes cluster on this machine, with fake GPU nodes, and KubeNexus as its scheduler.

  cluster.py up [--nodes=N] [--folder=DIR]   runs it until Ctrl-C; this is `make cluster`
  cluster.py apply [--folder=DIR] FILE...    what `kubectl apply -f` does, where there is no kubectl
  cluster.py pods [--folder=DIR]             where the pods are, and why those that wait do

docs/cluster.md describes it."""

import argparse
import contextlib
import fcntl
import os
import pathlib
import select
import shutil
import signal
import stat
import sys
import time
import urllib.error

from api_server import ApiServer, documents_of
from gpu_nodes import gpu_node, is_ready
from plane import ROOT, ControlPlane
from running import Process, scheduler
from service_account import write_kubeconfig

MANIFEST = ROOT / "deploy" / "kubenexus-scheduler.yaml"
OUR_KINDS = ROOT / "config" / "crd-resourcereservation.yaml"
SCHEDULER_CONFIGURATION = pathlib.Path(__file__).with_name("scheduler.yaml")
EXAMPLES = "examples/cluster"
NODES = "/api/v1/nodes"
CANARY = "/api/v1/namespaces/kube-system/pods"
GATES = ("GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true,"
         "WorkloadAwarePreemption=true")
CONTROL_PLANE_FLAGS = (
    "--without=kube-scheduler",
    "--kube-apiserver-flag=--runtime-config=scheduling.k8s.io/v1alpha2=true",
    f"--kube-apiserver-flag=--feature-gates={GATES}",
    # The API server puts a finalizer on PodGroups, which only a controller takes away.
    f"--kube-controller-manager-flag=--feature-gates={GATES}",
    # Otherwise a Deployment gets 20 pods a second.
    "--kube-controller-manager-flag=--kube-api-qps=1000",
    "--kube-controller-manager-flag=--kube-api-burst=1000",
)


class Stopped(Exception):
    """Somebody asked us to end."""


def say(what, text):
    print(f"  {what:<15}{text}", flush=True)


class Steps:
    """Says after each step how long it took."""

    def __init__(self):
        self._since = time.monotonic()

    def done(self, what, text):
        now = time.monotonic()
        say(what, f"{text} ({now - self._since:.1f} s)")
        self._since = now


def clear_folder(folder):
    """Removes what an earlier run left, but neither a cluster that runs nor somebody's files."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"cluster: another cluster runs in {folder}; end it, or take another folder: "
                 f"{this_program()} up --folder=DIR")
    finally:
        os.close(handle)
    if any(folder.iterdir()) and not (folder / "admin.token").exists():
        sys.exit(f"cluster: {folder} is neither empty nor the folder of a cluster")
    shutil.rmtree(folder)


def apply_manifest(plane):
    """All of it but the Deployment: the scheduler runs here, not in a pod of a fake node. And the
    kinds that are ours, first."""
    documents = documents_of(OUR_KINDS.read_text("utf-8") + "---\n" + MANIFEST.read_text("utf-8"))
    applied = [plane.apply(each) for each in documents if "\nkind: Deployment\n" not in f"\n{each}"]
    return len(applied)


def create_nodes(plane, count):
    plane.create_many(NODES, [gpu_node(number) for number in range(count)])
    # Reading thousands of nodes is work too.
    plane.wait_for(NODES, lambda got: all(map(is_ready, got["items"])), timeout=60 + count / 10,
                   pause=count / 1000)


def wait_for_a_binding(plane):
    """Only a scheduler that works binds a pod."""
    pod = {
        "metadata": {"name": "canary"},
        "spec": {"containers": [{"name": "canary", "image": "registry.example/canary"}]},
    }
    plane.create(CANARY, pod)
    plane.wait_for(f"{CANARY}/canary", lambda got: got["spec"].get("nodeName"))
    plane.request("DELETE", f"{CANARY}/canary")


def shown(path):
    """As short as it can be typed from the folder of the checkout."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def this_program():
    return f"python3 {shown(pathlib.Path(__file__).resolve())}"


def print_what_to_try(folder):
    this = this_program()
    where = "" if folder == default_folder() else f" --folder={shown(folder)}"
    print(f"\nThe cluster runs. Its kubeconfig: {shown(folder / 'kubeconfig')}\n"
          f"What to try next, in another terminal, from the folder of the checkout ({ROOT}):")
    if shutil.which("kubectl"):
        print(f"  export KUBECONFIG={shown(folder / 'kubeconfig')}\n"
              f"  kubectl apply -f {EXAMPLES}/web.yaml -f {EXAMPLES}/training.yaml\n"
              f"  kubectl apply -f {EXAMPLES}/gang.yaml -f {EXAMPLES}/too-large.yaml\n"
              "  kubectl get pods -o wide\n"
              "  kubectl describe pod too-large\n"
              "  kubectl get nodes,pods,podgroups.scheduling.k8s.io,resourcereservations -A -o yaml"
              " \\\n    | bin/kubenexus explain too-large - --until 0s --config "
              f"{shown(SCHEDULER_CONFIGURATION)}")
    else:
        print(f"  {this} apply{where} {EXAMPLES}/web.yaml {EXAMPLES}/training.yaml\n"
              f"  {this} apply{where} {EXAMPLES}/gang.yaml {EXAMPLES}/too-large.yaml\n"
              f"  {this} pods{where}")
    print(f"Logs are in {shown(folder)}. Ctrl-C ends everything.", flush=True)


def start(stack, options):
    """Starts one after the other; what was started ends with the stack, the last first."""
    print(f"Starting a cluster with {options.nodes} fake GPU nodes", flush=True)
    steps = Steps()
    plane = ControlPlane(*CONTROL_PLANE_FLAGS, folder=options.folder)
    stack.enter_context(plane)
    steps.done("control plane", plane.server)
    count = apply_manifest(plane)
    kubeconfig = options.folder / "kubenexus-scheduler.kubeconfig"
    write_kubeconfig(plane, kubeconfig)
    steps.done("rights", f"{count} objects of {shown(OUR_KINDS)} and {shown(MANIFEST)}")
    kwok = stack.enter_context(Process(
        options.folder, "knx-kwok", f"--kubeconfig={options.folder / 'kubeconfig'}"))
    create_nodes(plane, options.nodes)
    steps.done("nodes", f"{options.nodes}, ready, with kwok for kubelets")
    ours = stack.enter_context(scheduler(options.folder, kubeconfig, SCHEDULER_CONFIGURATION))
    wait_for_a_binding(plane)
    steps.done("scheduler", "kubenexus-scheduler, as its own service account; bound a first pod")
    return [kwok, ours], plane


def stand_by(processes, plane):
    """Until one of them ends, or whoever started us, or what feeds our input."""
    parent = os.getppid()
    feeds = stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    while os.getppid() == parent:
        for process in processes:
            process.check()
        if plane.process.poll() is not None:
            raise RuntimeError("the control plane ended, see above")
        if not feeds:
            time.sleep(0.5)
        elif select.select([sys.stdin], [], [], 0.5)[0] and not os.read(sys.stdin.fileno(), 4096):
            return


def stop_on(signals):
    def stop(*_):
        for each in signals:  # One is enough: the end is on its way.
            signal.signal(each, signal.SIG_IGN)
        print("\nStopping everything", flush=True)
        raise Stopped

    for each in signals:
        signal.signal(each, stop)


def run_up(options):
    clear_folder(options.folder)
    stop_on((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        with contextlib.ExitStack() as stack:
            processes, plane = start(stack, options)
            print_what_to_try(options.folder)
            stand_by(processes, plane)
    except Stopped:
        pass
    except (RuntimeError, TimeoutError, urllib.error.URLError) as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1
    return 0


def server_of(folder):
    """The API server of a cluster that runs in the folder."""
    try:
        return ApiServer.of_folder(folder)
    except FileNotFoundError:
        sys.exit(f"cluster: no cluster runs in {shown(folder)}; `make cluster` starts one, and "
                 "--folder=DIR says where another is")


def read_documents(path):
    try:
        documents = documents_of(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"cluster: {path}: {getattr(error, 'strerror', None) or error}")
    if not documents:
        sys.exit(f"cluster: {path}: there is no object in it")
    return documents


def run_apply(options):
    documents = [(path, each) for path in options.files for each in read_documents(path)]
    server = server_of(options.folder)
    for path, document in documents:
        try:
            made = server.apply(document)
        except urllib.error.HTTPError as error:
            print(f"{path}: {' '.join(error.__notes__)}", file=sys.stderr)
            return 1
        except ValueError as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
        print(f"{made['kind']} {made['metadata']['name']}")
    return 0


def why_it_waits(pod):
    conditions = pod["status"].get("conditions", [])
    return next((each.get("message", "") for each in conditions
                 if each["type"] == "PodScheduled" and each["status"] == "False"), "")


def run_pods(options):
    for pod in server_of(options.folder).get("/api/v1/pods")["items"]:
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        where = pod["spec"].get("nodeName") or why_it_waits(pod)
        print(f"{name:<40} {pod['status']['phase']:<10} {where}")
    return 0


def default_folder():
    return ROOT / "build" / "cluster"


def node_count(text):
    if not text.isdecimal() or not 1 <= int(text) <= 10000:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number from 1 to 10000")
    return int(text)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, run, text in (
        ("up", run_up, "run a cluster until Ctrl-C"),
        ("apply", run_apply, "create or change the objects of manifests"),
        ("pods", run_pods, "where the pods are, and why those that wait do"),
    ):
        command = commands.add_parser(name, help=text)
        command.set_defaults(run=run)
        command.add_argument("--folder", type=pathlib.Path, default=default_folder(),
                             help="where the cluster keeps its files (%(default)s)")
        if run is run_up:
            command.add_argument("--nodes", type=node_count, default=100,
                                 metavar="N", help="1 to 10000 (%(default)s)")
        if run is run_apply:
            command.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE")
    options = parser.parse_args(arguments)
    options.folder = options.folder.resolve()
    return options


if __name__ == "__main__":
    chosen = parse(sys.argv[1:])
    try:
        sys.exit(chosen.run(chosen))
    except urllib.error.URLError as refused:
        sys.exit(f"cluster: the API server of {shown(chosen.folder)} does not answer: "
                 f"{refused.reason}")
