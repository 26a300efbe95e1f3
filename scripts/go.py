#!/usr/bin/env python3
"""go.py ARGUMENT...: runs `go ARGUMENT...` with a Go that is new enough for tools/go.mod: the one
on the PATH, or else one that is fetched once from the Go module proxy and kept in the user's cache.

Debian 12 has Go 1.19 only. The proxy has every release as a version of the module
golang.org/toolchain; what comes from there must have the checksum below, which is the one of the
public checksum database. GOPROXY names another proxy; KNX_SETUP=off never fetches."""

import base64
import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile

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


def proxy_address():
    for address in re.split(r"[,|]", os.environ.get("GOPROXY", "")):
        if address.startswith(("http://", "https://")):
            return address.rstrip("/")
    return "https://proxy.golang.org"


def checksum(archive):
    """The hash that go.sum files have: of the sorted list of files with their hashes."""
    lines = (f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}\n"
             for name in sorted(archive.namelist()))
    total = hashlib.sha256("".join(lines).encode()).digest()
    return "h1:" + base64.b64encode(total).decode()


def unpack(archive, root, target):
    """Undoes what a module has to do without: executable files, and files named go.mod."""
    partly = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.rmtree(partly, ignore_errors=True)
    for name in archive.namelist():
        inside = name.removeprefix(root + "/")
        path = partly / re.sub(r"(^|/)_go\.mod$", r"\1go.mod", inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive.read(name))
        if inside.startswith(("bin/", "pkg/tool/")):
            path.chmod(0o755)
    try:
        partly.rename(target)
    except OSError:  # Somebody else was faster.
        shutil.rmtree(partly)


def fetch(target):
    machine = MACHINES.get(platform.machine())
    if machine is None or sys.platform != "linux":
        sys.exit(f"go.py: no checksum here for {sys.platform} on {platform.machine()}; "
                 f"install {RELEASE} and put it on the PATH")
    if os.environ.get("KNX_SETUP") == "off":
        sys.exit(f"go.py: KNX_SETUP=off, and no Go on the PATH is new enough; install {RELEASE}")
    version = f"v0.0.1-{RELEASE}.linux-{machine}"
    url = f"{proxy_address()}/golang.org/toolchain/@v/{version}.zip"
    print(f"go.py: fetching {url}", file=sys.stderr)
    try:
        with urllib.request.urlopen(url, timeout=300) as answer:
            archive = zipfile.ZipFile(io.BytesIO(answer.read()))
    except (OSError, zipfile.BadZipFile) as error:
        sys.exit(f"go.py: {url}: {error}")
    found = checksum(archive)
    if found != CHECKSUMS[machine]:
        sys.exit(f"go.py: {url} has the checksum {found} instead of {CHECKSUMS[machine]}; not used")
    unpack(archive, f"golang.org/toolchain@{version}", target)


def find_go():
    go = shutil.which("go")
    if go and is_new_enough(go):
        return go
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    target = cache / "kubenexus" / RELEASE
    if not target.exists():
        fetch(target)
    return str(target / "bin" / "go")


def main():
    go = find_go()
    os.execv(go, [go, *sys.argv[1:]])


if __name__ == "__main__":
    main()
