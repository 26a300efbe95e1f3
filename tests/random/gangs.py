"""Random gangs: who belongs to one, said in every way that there is, and how many must start."""

import dataclasses

OURS = "pod-group.scheduling.kubenexus.io"
SIGS = "pod-group.scheduling.sigs.k8s.io"
KUEUE = "kueue.x-k8s.io"
SIGS_OBJECT = "scheduling.x-k8s.io/pod-group"
VOLCANO = "scheduling.k8s.io/group-name"
RACK = "rack"

SOURCES = ["ours", "ours", "ours", "sigs", "kueue", "kubernetes", "kubernetes", "sigs object",
           "volcano", "operator"]
WITH_OBJECT = {"kubernetes", "sigs object", "volcano"}


@dataclasses.dataclass
class Gang:
    name: str
    source: str
    members: int
    minimum: int
    roles: dict = dataclasses.field(default_factory=dict)  # how many must start of each
    part_size: int = 0  # of sub-groups; 0: it has none
    least_parts: int = 0
    topology: bool = False
    driver: bool = False


def make(rng, name, most):
    members = rng.randint(2, max(2, most))
    minimum = members if rng.random() < 0.6 else rng.randint(2, members)
    gang = Gang(name, rng.choice(SOURCES), members, minimum)
    if rng.random() < 0.2:
        gang.roles = {"ps": 1, "worker": rng.randint(1, max(1, members - 1))}
    if members >= 4 and rng.random() < 0.25:
        gang.part_size = rng.choice([2, 2, 3])
        gang.least_parts = rng.choice([0, 1, members // gang.part_size])
    gang.topology = rng.random() < 0.2
    gang.driver = rng.random() < 0.25
    return gang


def object_of(gang, minimum=None, rng=None):
    """The object that says how many must start; None: its pods say so."""
    minimum = gang.minimum if minimum is None else minimum
    metadata = {"name": gang.name}
    if gang.source == "kubernetes":
        spec = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
        if gang.topology:
            spec["schedulingConstraints"] = {"topology": [{"key": RACK}]}
        mode = rng.choice(["", "", "Pod", "PodGroup"]) if rng else ""
        if mode:
            spec["disruptionMode"] = mode
        return {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
                "metadata": metadata, "spec": spec}
    if gang.source == "sigs object":
        spec = {"minMember": minimum}
        if rng and rng.random() < 0.3:
            spec["scheduleTimeoutSeconds"] = rng.choice([3, 30])
        if rng and rng.random() < 0.2:
            spec["minResources"] = {"cpu": str(minimum)}
        return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
                "metadata": metadata, "spec": spec}
    if gang.source == "volcano":
        spec = {"minMember": minimum}
        if gang.roles:
            spec["minTaskMember"] = dict(gang.roles)
        if gang.part_size:
            spec["subGroupPolicy"] = [{"name": "parts", "matchLabelKeys": ["part"],
                                       "subGroupSize": gang.part_size,
                                       "minSubGroups": max(gang.least_parts, 1)}]
        return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                "metadata": metadata, "spec": spec}
    return None


def membership(gang, minimum=None):
    """Labels by which a pod becomes a member; none where labels cannot say so."""
    minimum = str(gang.minimum if minimum is None else minimum)
    if gang.source == "ours":
        return {f"{OURS}/name": gang.name, f"{OURS}/min-available": minimum}
    if gang.source == "sigs":
        return {f"{SIGS}/name": gang.name, f"{SIGS}/min-available": minimum}
    if gang.source == "kueue":
        return {f"{KUEUE}/pod-group-name": gang.name, f"{KUEUE}/pod-group-total-count": minimum}
    if gang.source == "sigs object":
        return {SIGS_OBJECT: gang.name}
    if gang.source == "operator":
        return {"training.kubeflow.org/job-name": gang.name, f"{OURS}/min-available": minimum}
    return {}


def join(gang, number, pod):
    """Makes `pod` (what a `create` says) the member of that number, counted from 0."""
    labels, annotations = pod.setdefault("labels", {}), pod.setdefault("annotations", {})
    labels.update(membership(gang))
    if gang.source == "kubernetes":
        pod.setdefault("spec", {})["schedulingGroup"] = {"podGroupName": gang.name}
    if gang.source == "volcano":
        annotations[VOLCANO] = gang.name
    if gang.roles:
        role = "ps" if number == 0 else "worker"
        if gang.source == "volcano":
            annotations["volcano.sh/task-spec"] = role
        else:
            labels[f"{OURS}/role"] = role
            labels[f"{OURS}/role-min-available"] = str(gang.roles[role])
    if gang.part_size:
        _join_part(gang, number // gang.part_size, labels)
    if gang.topology and gang.source != "kubernetes":
        annotations[f"{OURS}/topology-key"] = RACK


def _join_part(gang, part, labels):
    labels["part"] = f"p{part}"
    if gang.source == "volcano":
        return
    labels[f"{OURS}/sub-group"] = f"p{part}"
    labels[f"{OURS}/sub-group-min-available"] = str(gang.part_size)
    if gang.least_parts:
        labels[f"{OURS}/min-sub-groups"] = str(gang.least_parts)
