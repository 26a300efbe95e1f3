"""Who talks to an API server: the service account of deploy/, under which the daemon is tested, and
others where a test is about them."""

import base64
import json
import re
import time

from control_plane import ROOT

# Beside the control plane.
# pylint: disable=wrong-import-order
import service_account
from api_server import documents_of

MANIFEST = ROOT / "deploy" / "kubenexus-scheduler.yaml"
NAME = service_account.NAME  # of the lease, too
USER = f"system:serviceaccount:{service_account.NAMESPACE}:{NAME}"
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def kubeconfig(plane, name=NAME):
    """A file that leads the service account to the server, with the rights that deploy/ gives it.
    Each name has a token of its own, by which the audit log tells replicas apart."""
    path = plane.folder / f"{name}.kubeconfig"
    if not path.exists():
        give_rights(plane)
        service_account.write_kubeconfig(plane, path)
    return path


def give_rights(plane):
    """What is in deploy/, but for the Deployment, for which there is no kubelet."""
    for document in documents_of(MANIFEST.read_text("utf-8")):
        if "\nkind: Deployment\n" not in f"\n{document}":
            plane.apply(document)
    # A server knows of a new right a moment later.
    _wait_until_allowed(plane, {"verb": "list", "resource": "pods"})
    _wait_until_allowed(plane, {"verb": "get", "resource": "leases", "name": NAME,
                                "group": "coordination.k8s.io",
                                "namespace": service_account.NAMESPACE})


def _wait_until_allowed(plane, what, seconds=30):
    end = time.monotonic() + seconds
    asked = {"spec": {"user": USER, "resourceAttributes": what}}
    while not plane.create(_REVIEWS, asked)["status"]["allowed"]:
        if time.monotonic() > end:
            raise TimeoutError(f"the service account was not allowed to {what}")
        time.sleep(0.02)


def token_in(path):
    return re.search(r"token: ([^}\s]+)", path.read_text("utf-8")).group(1)


def credential_in(path):
    """How an audit log names the token of a service account."""
    payload = token_in(path).split(".")[1]
    return "JTI=" + json.loads(base64.urlsafe_b64decode(payload + "=="))["jti"]


def new_token(plane, name, namespace="default"):
    """Of a new service account, which may do nothing."""
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    plane.create(accounts, {"metadata": {"name": name}})
    return plane.create(f"{accounts}/{name}/token", {"spec": {}})["status"]["token"]


def write_kubeconfig(plane, path, user):
    """Of somebody with these credentials."""
    authority = base64.b64encode((plane.folder / "server.crt").read_bytes()).decode()
    path.write_text(f"""apiVersion: v1
kind: Config
current-context: a
contexts: [{{name: a, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "{plane.server}",
  certificate-authority-data: {authority}}}}}]
users: [{{name: u, user: {{{user}}}}}]
""", "utf-8")
    return path
