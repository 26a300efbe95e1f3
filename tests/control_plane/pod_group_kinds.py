"""The kinds by which pods are told to start together, on a real control plane: PodGroups of
Kubernetes, which an API server has only with these flags, and those of other projects."""

import pathlib
import time
import urllib.error

API_SERVER_FLAGS = (
    "--kube-apiserver-flag=--runtime-config=scheduling.k8s.io/v1alpha2=true",
    "--kube-apiserver-flag=--feature-gates=GenericWorkload=true",
)
NATIVE = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
SIGS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
RESERVATIONS = "/apis/scheduling.kubenexus.io/v1alpha1/namespaces/default/resourcereservations"
_RESERVATIONS = pathlib.Path(__file__).resolve().parents[2] / "config/crd-resourcereservation.yaml"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def define(plane, group, version):
    """Returns when the kind can be used."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    name = f"podgroups.{group}"
    plane.create(_DEFINITIONS, {
        "metadata": {"name": name,
                     # Groups of k8s.io are asked where they were approved.
                     "annotations": {"api-approved.kubernetes.io": "https://example.com/1"}},
        "spec": {"group": group, "scope": "Namespaced",
                 "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups",
                           "singular": "podgroup"},
                 "versions": [{"name": version, "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": schema}}]}})
    plane.wait_for(f"{_DEFINITIONS}/{name}", _is_established)
    plane.wait_for("/apis", lambda got: any(g["name"] == group for g in got["groups"]))
    _wait_until_served(plane, f"/apis/{group}/{version}/podgroups")


def define_reservations(plane):
    """ResourceReservations as they are shipped; returns when the kind can be used."""
    made = plane.apply(_RESERVATIONS.read_text("utf-8"))
    plane.wait_for(f"{_DEFINITIONS}/{made['metadata']['name']}", _is_established)
    _wait_until_served(plane, RESERVATIONS)


def _wait_until_served(plane, path):
    """A kind may be announced and still not be there (404), or just coming (429)."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return plane.get(path)
        except urllib.error.HTTPError as error:
            if error.code not in (404, 429) or time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def remove(plane, group):
    plane.request("DELETE", f"{_DEFINITIONS}/podgroups.{group}")


def _is_established(definition):
    # A definition that was made a moment ago has no conditions, or null.
    conditions = definition.get("status", {}).get("conditions") or []
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def native(name, minimum):
    return {"metadata": {"name": name},
            "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}}}


def sigs(name, minimum):
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
            "metadata": {"name": name}, "spec": {"minMember": minimum}}
