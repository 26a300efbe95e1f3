"""A real control plane for tests: starts `knx-control-plane up` and talks to its API server."""

import json
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bin" / "knx-control-plane"


class ControlPlane:
    """As a context manager it is ready inside, and stopped and its folder removed afterwards."""

    def __init__(self, *flags):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="knx-control-plane-"))
        self.process = None
        self.server = None
        self._flags = flags

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder)

    def start(self):
        """Returns when the API server is ready. After stop() it goes on with the same objects."""
        self.process = subprocess.Popen(
            [PROGRAM, "up", *self._flags, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        if not line.startswith("ready"):
            raise RuntimeError("the control plane did not start, see above")
        self.server = line.split(": ")[1].split(",")[0]
        self._token = (self.folder / "admin.token").read_text("ascii")
        self._tls = ssl.create_default_context(cafile=self.folder / "server.crt")

    def stop(self):
        """Returns the exit status."""
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=60)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()

    def children(self):
        """The ids of the processes that the control plane runs."""
        every = (int(path.name) for path in pathlib.Path("/proc").iterdir() if path.name.isdigit())
        return [pid for pid in every if _state_and_parent(pid)[1] == self.process.pid]

    def request(self, method, path, body=None, content_type="application/json"):
        """The answer of the API server as an object; urllib.error.HTTPError if it refuses."""
        request = urllib.request.Request(
            self.server + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": content_type},
        )
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.add_note(error.read().decode())
            raise

    def get(self, path):
        return self.request("GET", path)

    def create(self, path, body):
        return self.request("POST", path, body)

    def wait_for(self, path, holds, timeout=60):
        """Reads an object or a list until it is as wanted, and returns it."""
        deadline = time.monotonic() + timeout
        while True:
            last = self.get(path)
            if holds(last):
                return last
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} stayed {json.dumps(last)[:2000]}")
            time.sleep(0.1)


def _state_and_parent(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None, None
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def is_running(pid):
    """A process that has ended and was not collected yet does not run."""
    return _state_and_parent(pid)[0] not in (None, "Z", "X")
