"""Runs `knx-control-plane up`, as a context manager, and talks to its API server."""

import pathlib
import shutil
import subprocess
import tempfile

from api_server import ApiServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bin" / "knx-control-plane"


class ControlPlane(ApiServer):
    """Ready inside a `with`, and stopped and its folder removed afterwards."""

    def __init__(self, *flags, folder=None, program=PROGRAM):
        self.folder = folder or pathlib.Path(tempfile.mkdtemp(prefix="knx-control-plane-"))
        self.process = None
        self._command = [program, "up", *flags, self.folder]

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
        # In a group of its own, because Ctrl-C is for us alone; it ends with its input.
        self.process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            process_group=0,
        )
        line = self.process.stdout.readline()
        if not line.startswith("ready"):
            raise RuntimeError("the control plane did not start, see above")
        super().__init__(line.split(": ")[1].split(",")[0], self.folder)

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
        return children_of(self.process.pid)


def children_of(parent):
    every = (int(path.name) for path in pathlib.Path("/proc").iterdir() if path.name.isdigit())
    return [pid for pid in every if _state_and_parent(pid)[1] == parent]


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
