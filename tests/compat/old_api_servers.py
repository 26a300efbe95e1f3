"""kube-apiserver of other releases of Kubernetes, built from the module registry.

Each is a Go module of its own in build/compat/, written here: one main.go, and a go.mod that names
the release and the parts of Kubernetes that belong to it. etcd is the one of knx-control-plane."""

import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.error

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "cluster"))

# pylint: disable=wrong-import-position
from plane import PROGRAM, ControlPlane  # noqa: E402
from running import Process, last_lines  # noqa: E402

FOLDER = ROOT / "build" / "compat"
GO = ROOT / "scripts" / "go.py"
TOOLS_GO_MOD = ROOT / "tools" / "go.mod"
_SECONDS_TO_START = 60

_MAIN = """package main

import (
\t"os"

\t"k8s.io/component-base/cli"
\t"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
"""


def _go(*arguments, **more):
    return subprocess.run([GO, *arguments], check=True, **more)


def _go_mod(version):
    """Kubernetes names its parts by folders of its repository; as modules they have versions."""
    told = _go("mod", "download", "-json", f"k8s.io/kubernetes@v{version}", cwd=ROOT / "tools",
               stdout=subprocess.PIPE)
    original = pathlib.Path(json.loads(told.stdout)["GoMod"]).read_text("utf-8")
    parts = re.findall(r"^\s*(k8s\.io/[\w-]+) => \./staging", original, re.MULTILINE)
    part_version = re.sub(r"^1\.", "v0.", version)
    replaced = "".join(f"\t{part} => {part} {part_version}\n" for part in parts)
    wanted = re.search(r"^go .*", TOOLS_GO_MOD.read_text("utf-8"), re.MULTILINE)
    return (f"module kubenexus.io/compat\n\n{wanted.group(0)}\n\n"
            f"require k8s.io/kubernetes v{version}\n\nreplace (\n{replaced})\n")


def build(version):
    """The command that runs it, built if it is not there yet."""
    if f"k8s.io/kubernetes v{version}\n" in TOOLS_GO_MOD.read_text("utf-8"):
        return [PROGRAM, "kube-apiserver"]
    folder = FOLDER / version
    program = folder / "kube-apiserver"
    if program.exists():
        return [program]
    print(f"== building kube-apiserver {version}: many minutes", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "go.mod").write_text(_go_mod(version), "utf-8")
    (folder / "main.go").write_text(_MAIN, "utf-8")
    stamp = f"-X k8s.io/component-base/version.gitVersion=v{version}"
    # providerless leaves out clouds, whose modules the registry does not have for every release.
    _go("build", "-C", folder, "-mod=mod", "-tags=providerless", "-buildvcs=false",
        f"-ldflags=-s -w {stamp}", "-o", "kube-apiserver", ".")
    return [program]


class OldControlPlane(ControlPlane):
    """etcd, and kube-apiserver of another release. First one of today's release is started: it
    writes the certificates and tokens, and its processes tell with what flags they run."""

    def __init__(self, command):
        super().__init__("--without=kube-scheduler,kube-controller-manager")
        self._program, *self._arguments = command
        self._running = contextlib.ExitStack()

    def start(self):
        super().start()
        commands = {name: (program, flags) for program, name, *flags in
                    map(_command_of, self.children())}
        super().stop()
        shutil.rmtree(self.folder / "etcd")
        etcd, flags = commands["etcd"]
        self._running.enter_context(Process(self.folder, "etcd", "etcd", *flags, program=etcd))
        self._running.enter_context(Process(
            self.folder, "kube-apiserver", *self._arguments, *commands["kube-apiserver"][1],
            program=self._program))
        self._wait_until_ready()

    def stop(self):
        self._running.close()

    def _wait_until_ready(self):
        deadline = time.monotonic() + _SECONDS_TO_START
        while True:
            try:
                return self.get("/readyz")
            except urllib.error.URLError:
                if time.monotonic() > deadline:
                    raise RuntimeError(last_lines(self.folder / "kube-apiserver.log")) from None
                time.sleep(0.2)


def _command_of(pid):
    command = pathlib.Path(f"/proc/{pid}/cmdline").read_text("utf-8").rstrip("\0").split("\0")
    return [pathlib.Path(f"/proc/{pid}/exe").readlink(), *command[1:]]
