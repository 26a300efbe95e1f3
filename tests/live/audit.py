"""What schedulers wrote, as the API server saw it: its audit log."""

import contextlib
import http
import itertools
import json
import pathlib
import tempfile

from control_plane import ControlPlane

_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Request
    verbs: [create]
    resources: [{group: "", resources: [pods/binding]}]
  - level: Metadata
    verbs: [create, update, patch, delete]
"""
# Who asked was gone before the answer. What was asked for may have been stored or not.
_NOBODY_WAITS = http.HTTPStatus.GATEWAY_TIMEOUT


def who(event):
    """By whom something was asked: for a service account, which of its tokens."""
    user = event["user"]
    return user.get("extra", {}).get("authentication.kubernetes.io/credential-id",
                                     [user["username"]])[0]


def bindings(events):
    return [each for each in events if each["objectRef"].get("subresource") == "binding"]


def is_done(event):
    return event["responseStatus"]["code"] < http.HTTPStatus.MULTIPLE_CHOICES


class AuditLog:
    """Of an API server that is started with `flags`. It writes a line before it answers."""

    def __init__(self, folder):
        self._file = folder / "audit.log"
        policy = folder / "audit-policy.yaml"
        policy.write_text(_POLICY, "ascii")
        self.flags = [f"--kube-apiserver-flag=--audit-policy-file={policy}",
                      f"--kube-apiserver-flag=--audit-log-path={self._file}"]
        self._consumed, self._writes = 0, []
        self._targets = {http.HTTPStatus.CREATED: {}, _NOBODY_WAITS: {}}  # pods and their nodes

    def writes(self):
        """Everything so far, in the order in which it was done."""
        with self._file.open("rb") as log:
            log.seek(self._consumed)
            text = log.read()
        whole = text[:text.rfind(b"\n") + 1]
        self._consumed += len(whole)
        news = [json.loads(line) for line in whole.splitlines()]
        self._writes += news
        for each in bindings(news):
            code = each["responseStatus"]["code"]
            if code in self._targets:
                node = each["requestObject"]["target"]["name"]
                self._targets[code].setdefault(each["objectRef"]["name"], []).append(node)
        return self._writes

    def writers(self, username, since=0):
        """Which of the user's tokens wrote, one after the other. Whoever tries in vain to get the
        lease has written nothing."""
        by = [who(each) for each in self.writes()[since:] if each["user"]["username"] == username
              and (each["objectRef"]["resource"] != "leases" or is_done(each))]
        return [writer for writer, _ in itertools.groupby(by)]

    def bindings(self):
        """By pod, the nodes that it was bound to: one, if all is well."""
        self.writes()
        return self._targets[http.HTTPStatus.CREATED]

    def bound_otherwise(self, places):
        """The pods that were not bound exactly once, to the node that they are on."""
        bound = self.bindings()

        def seen(name):
            return bound.get(name, []), self._targets[_NOBODY_WAITS].get(name, [])

        def is_odd(node, surely, perhaps):
            return surely != [node] if surely else node not in perhaps
        return {name: seen(name) for name, node in places.items() if is_odd(node, *seen(name))}


@contextlib.contextmanager
def audited(*flags):
    """A control plane and its audit log."""
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(pathlib.Path(folder))
        with ControlPlane(*flags, *log.flags) as plane:
            yield plane, log
