"""The service account of the scheduler, and a kubeconfig with a token of it."""

import base64

NAMESPACE = "kube-system"
NAME = "kubenexus-scheduler"
_TOKEN = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NAME}/token"
_MONTH = 30 * 24 * 3600

_KUBECONFIG = """apiVersion: v1
kind: Config
current-context: knx
contexts: [{{name: knx, context: {{cluster: knx, user: {name}}}}}]
clusters: [{{name: knx, cluster: {{server: "{server}", certificate-authority-data: {ca}}}}}]
users: [{{name: {name}, user: {{token: {token}}}}}]
"""


def write_kubeconfig(plane, path):
    """Asks the API server for a token, as a kubelet does for a pod."""
    answer = plane.create(_TOKEN, {"spec": {"expirationSeconds": _MONTH}})
    ca = base64.b64encode((plane.folder / "server.crt").read_bytes()).decode()
    path.touch(mode=0o600)
    path.write_text(_KUBECONFIG.format(
        name=NAME, server=plane.server, ca=ca, token=answer["status"]["token"]), "ascii")
