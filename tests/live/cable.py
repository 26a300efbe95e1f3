"""A way to the API server that can be cut: passes bytes on until somebody cuts it."""

import contextlib
import pathlib
import re
import socket
import threading

import accounts


class Cable:
    """Inside a `with` it listens on loopback; `kubeconfig` names a file that leads through it: the
    service account of deploy/, or whom the given one is of."""

    def __init__(self, plane, kubeconfig=None):
        self._target = ("127.0.0.1", int(plane.server.rpartition(":")[2]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends, self._lock, self._plugged = [], threading.Lock(), True
        self._passes_answers_on = threading.Event()
        self._passes_answers_on.set()
        port = self._listener.getsockname()[1]
        text = (kubeconfig or accounts.kubeconfig(plane)).read_text("utf-8")
        self.kubeconfig = pathlib.Path(plane.folder / f"through-{port}.kubeconfig")
        self.kubeconfig.write_text(re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", text), "utf-8")

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()
        self.cut()
        self.pass_answers_on()

    def cut(self):
        """Ends all connections; new ones are taken."""
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def unplug(self):
        """From now on connections end at once."""
        self._plugged = False
        self.cut()

    def plug_in(self):
        self._plugged = True

    def hold_answers(self):
        """What the server says is kept back, and passed on later."""
        self._passes_answers_on.clear()

    def pass_answers_on(self):
        self._passes_answers_on.set()

    def _accept(self):
        while True:
            try:
                inner, _ = self._listener.accept()
            except OSError:
                return
            try:
                outer = socket.create_connection(self._target) if self._plugged else None
            except OSError:
                outer = None
            if outer is None:
                inner.close()
                continue
            with self._lock:
                self._ends += [inner, outer]
            at_once = threading.Event()
            at_once.set()
            for way in ((inner, outer, at_once), (outer, inner, self._passes_answers_on)):
                threading.Thread(target=_pass_on, args=way, daemon=True).start()


def _pass_on(source, sink, passes):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            passes.wait()
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
