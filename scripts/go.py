#!/usr/bin/env python3
"""go.py ARGUMENT...: runs `go ARGUMENT...` with a Go that is new enough for tools/go.mod: the one
on the PATH, or else one that it fetches once and that is kept in the user's cache.

Debian 12 has Go 1.19 only, but that one can fetch modules, and every release of Go is a version of
the module golang.org/toolchain. What comes must have the checksum below, which is the one of the
public checksum database. KNX_SETUP=off never fetches."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

RELEASE = "go1.26.8"
CHECKSUMS = {
    "amd64": "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
    "arm64": "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
}
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
GO_MOD = pathlib.Path(__file__).resolve().parents[1] / "tools" / "go.mod"


def numbers(version):
    return tuple(int(number) for number in re.findall(r"\d+", version))


def wanted_version():
    return numbers(re.search(r"^go (\S+)$", GO_MOD.read_text("utf-8"), re.MULTILINE).group(1))


def is_new_enough(go):
    # What this Go is, not what it would replace itself by to please a go.mod around it.
    local = {**os.environ, "GOTOOLCHAIN": "local"}
    answer = subprocess.run(
        [go, "env", "GOVERSION"], cwd="/", env=local, capture_output=True, text=True, check=False
    )
    return answer.returncode == 0 and numbers(answer.stdout) >= wanted_version()


def unpack(module, target):
    """Undoes what a module has to do without: executable files, and files named go.mod."""
    partly = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.rmtree(partly, ignore_errors=True)
    shutil.copytree(module, partly, copy_function=shutil.copyfile)
    for folder in [partly, *(path for path in partly.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)
    for path in partly.rglob("_go.mod"):
        path.rename(path.with_name("go.mod"))
    for folder in (partly / "bin", partly / "pkg" / "tool"):
        for path in folder.rglob("*"):
            path.chmod(0o755)
    try:
        partly.rename(target)
    except OSError:  # Somebody else was faster.
        shutil.rmtree(partly)


def fetch(go, target):
    machine = MACHINES.get(platform.machine())
    if machine is None or sys.platform != "linux":
        sys.exit(f"go.py: no checksum here for {sys.platform} on {platform.machine()}; "
                 f"install {RELEASE} and put it on the PATH")
    if go is None or os.environ.get("KNX_SETUP") == "off":
        sys.exit(f"go.py: no Go on the PATH is new enough, and nothing may be fetched with an "
                 f"older one; install {RELEASE}")
    module = f"golang.org/toolchain@v0.0.1-{RELEASE}.linux-{machine}"
    print(f"go.py: fetching {module}", file=sys.stderr)
    answer = subprocess.run([go, "mod", "download", "-json", module], cwd="/",
                            stdout=subprocess.PIPE, text=True, check=False)
    told = {}
    if answer.returncode == 0:
        told = json.loads(answer.stdout)
    elif answer.stdout.startswith("{"):
        sys.exit(f"go.py: {module}: {json.loads(answer.stdout).get('Error')}")
    if "Dir" not in told:
        sys.exit(f"go.py: {module} could not be fetched")
    if told["Sum"] != CHECKSUMS[machine]:
        sys.exit(f"go.py: {module} has the checksum {told['Sum']} instead of {CHECKSUMS[machine]}; "
                 "not used")
    target.parent.mkdir(parents=True, exist_ok=True)
    unpack(told["Dir"], target)


def find_go():
    go = shutil.which("go")
    if go and is_new_enough(go):
        return go
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    target = cache / "kubenexus" / RELEASE
    if not target.exists():
        fetch(go, target)
    return str(target / "bin" / "go")


def main():
    go = find_go()
    os.execv(go, [go, *sys.argv[1:]])


if __name__ == "__main__":
    main()
