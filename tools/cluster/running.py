"""Programs that run beside us and never outlive us."""

import ctypes
import pathlib
import signal
import socket
import subprocess

from plane import ROOT

_PR_SET_PDEATHSIG = 1
_PATIENCE = 10  # seconds
_libc = ctypes.CDLL(None)


def _end_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """Runs inside a `with`, in a folder; what it prints goes to a log of its name there."""

    def __init__(self, folder, name, *flags, program=None):
        self.name = name
        self.folder = pathlib.Path(folder)
        self.log = self.folder / f"{name}.log"
        self._command = [program or ROOT / "bin" / name, *flags]
        self.process = None

    def __enter__(self):
        with self.log.open("ab") as log:
            # In a group of its own, because Ctrl-C is for us alone. The kernel kills it when we
            # are killed and cannot do so ourselves.
            self.process = subprocess.Popen(
                self._command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                process_group=0, preexec_fn=_end_with_parent)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def check(self):
        """RuntimeError with the end of its log if it does not run any more."""
        code = self.process.poll()
        if code is not None:
            raise RuntimeError(f"{self.name} ended with {code}; the end of {self.log}:\n"
                               f"{last_lines(self.log)}")


def scheduler(folder, kubeconfig, configuration, *flags, port=None):
    """kubenexus-scheduler, which logs into the folder."""
    return Process(folder, "kubenexus-scheduler", f"--kubeconfig={kubeconfig}",
                   f"--config={configuration}", "--bind-address=127.0.0.1",
                   f"--secure-port={port or free_port()}", *flags)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def last_lines(path, count=15):
    return "\n".join(path.read_text("utf-8", "replace").splitlines()[-count:])
