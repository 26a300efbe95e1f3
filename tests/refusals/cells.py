"""Random cells, and the objects that they are made of.

Many cells share one simulated cluster, each with nodes of its own.
"""

import re

from exact import Cell, Kind, Node, is_open, left_in_all

GPU = "nvidia.com/gpu"
LABELS = "pod-group.scheduling.kubenexus.io"
GI = 1 << 30


def make_cell(rng, name, most_nodes):
    nodes = [_make_node(rng, f"{name}-n{i}") for i in range(rng.randint(1, most_nodes))]
    sizes = rng.choice([1, 1, 1, 2, 3])
    kinds = [_make_kind(rng, alone=sizes == 1, large=most_nodes > 12) for _ in range(sizes)]
    # Two kinds that do not differ would be one.
    kinds = list({str({**vars(kind), "members": 0}): kind for kind in kinds}.values())
    total = sum(kind.members for kind in kinds)
    needed = total if rng.random() < 0.7 else rng.randint(max(total // 2, 1), total)
    cell = Cell(name, nodes, kinds, max(needed, 2))
    if rng.random() < 0.15:
        cell.key = "rack"
        for kind in kinds:
            kind.together = "rack"
    # Who would rather be near its like is counted otherwise where others may be its like.
    if not any(kind.affinity for kind in kinds) and rng.random() < 0.25:
        _give_roles(rng, cell)
    if rng.random() < 0.25:
        _divide(rng, cell)
    if is_plain(cell) and rng.random() < 0.3:
        _place_some(rng, cell)
    return cell


def make_demanding(rng, name, most_nodes):
    """A cell whose gang wants much to be left in all. It must have a cluster for itself, because
    all nodes of that count."""
    cell = make_cell(rng, name, most_nodes)
    resource = rng.choice(["cpu", GPU])
    left = left_in_all(cell, resource)
    # Where an object says how many must start, minimums of roles that pods say do not count.
    if not cell.placed and not cell.role_minimums and left > 0:
        cell.in_all = {resource: rng.randint(max(left - 3, 1), left + 3)}
    return cell


def is_plain(cell):
    """Only room keeps a member from a node, and any of a kind may start."""
    return not (cell.key or cell.choosy or
                any(kind.apart or kind.together or kind.port for kind in cell.kinds))


def _place_some(rng, cell):
    """Members that have a place before the others come, fewer than are needed."""
    for _ in range(rng.randint(1, 3)):
        index, at = rng.randrange(len(cell.kinds)), rng.randrange(len(cell.nodes))
        kind, node = cell.kinds[index], cell.nodes[at]
        free = all(node.free.get(r, 0) >= n for r, n in kind.takes.items())
        if cell.needed < 2 or kind.members < 2 or not is_open(kind, node) or not free:
            continue
        kind.members -= 1
        cell.needed -= 1
        for r, n in kind.takes.items():
            node.free[r] -= n
            node.ours[r] = node.ours.get(r, 0) + n
        cell.placed.append((index, at))


def rows_with_refusals(workloads):
    """Of bench/engine/workloads.yaml, in which each row is a line; one without an amount has it
    from the one before."""
    rows, row = [], {}
    for line in workloads.read_text("utf-8").splitlines():
        if " refusal: " in line:
            fields = re.findall(r' (\w+): ("[^"]*"|\{[^}]*\}|[^,{}]+)', line)
            row = {**row, **{name: value.strip('"') for name, value in fields}}
            rows.append(row)
    return rows


def of_benchmark(row):
    """The cluster of such a row; what is present on a node is one pod here."""
    have, takes, taken = (_whole(row[what]) for what in ("node", "pod", "present_pod"))
    fill, count, gang = int(row.get("fill", 0)), int(row["nodes"]), int(row["gang"])
    places = [i // fill if fill else i % count for i in range(int(row["present"]))]
    nodes = []
    for i in range(count):
        there = {r: n * places.count(i) for r, n in taken.items()}
        name = f"bench-n{i}"
        left = {r: n - there.get(r, 0) for r, n in have.items()}
        nodes.append(Node(name, left, {"kubernetes.io/hostname": name}, there=dict(there, pods=1)))
    return Cell("bench", nodes, [Kind(gang, dict(takes, pods=1))], gang)


def _whole(amounts):
    """Of {cpu: "64", memory: 512Gi}."""
    return {r: int(n) for r, n in re.findall(r'([\w./]+): "?(\d+)', amounts)}


def _give_roles(rng, cell):
    """What members are, and of some of that how many must start."""
    cell.roles = [rng.choice(["ps", "worker", "worker", ""]) for _ in cell.members()]
    for role in ("ps", "worker"):
        there = cell.roles.count(role)
        if there > 0 and rng.random() < 0.8:
            cell.role_minimums[role] = rng.randint(1, there)


def _divide(rng, cell):
    """Sub-groups, a few members perhaps in none."""
    members = list(range(len(cell.members())))
    if len(cell.kinds) > 1 or cell.role_minimums:
        rng.shuffle(members)
    left = len(members) - rng.choice([0, 0, 1])
    cell.parts = [None] * len(members)
    while left > 0 and len(cell.wholes) < 8:
        size = min(left, rng.randint(1, 4))
        for _ in range(size):
            cell.parts[members.pop()] = len(cell.wholes)
        cell.wholes.append(rng.randint(max(size - 1, 1), size))
        left -= size
    cell.min_sub_groups = rng.randint(0, len(cell.wholes))


def _make_node(rng, name):
    free = {
        "cpu": rng.choice([1, 2, 4, 8, 16]),
        "memory": rng.choice([2, 4, 8, 32]),
        "pods": rng.choice([1, 3, 110]),
        GPU: rng.choice([0, 1, 2, 3, 4, 5, 7, 8]),
    }
    labels = {"kubernetes.io/hostname": name}
    if rng.random() < 0.9:
        labels["rack"] = f"rack-{rng.randint(0, 3)}"
    if rng.random() < 0.5:
        labels["model"] = rng.choice(["a100", "h100"])
    node = Node(name, free, labels, rng.random() < 0.1, rng.random() < 0.05, rng.random() < 0.1)
    if node.port_taken or rng.random() < 0.6:
        node.there = {"pods": 1, **{r: rng.randint(0, 3) for r in ("cpu", "memory", GPU)}}
    return node


def _make_kind(rng, alone, large):
    takes = {"pods": 1, "cpu": rng.choice([1, 1, 2, 3]), "memory": rng.choice([1, 2, 3])}
    if rng.random() < 0.8:
        takes[GPU] = rng.choice([1, 2, 3, 4, 8])
    kind = Kind(rng.randint(2, 40 if large else 6) if alone else rng.randint(1, 3), takes)
    if rng.random() < 0.2:
        kind.selector = {"model": rng.choice(["a100", "h100", "none"])}
    kind.tolerates = rng.random() < 0.3
    kind.port = rng.random() < 0.1
    speaks = rng.random()
    if alone and speaks < 0.2:
        kind.apart = rng.choice(["rack", "kubernetes.io/hostname"])
    elif alone and speaks < 0.4:
        kind.together = "rack"
        kind.affinity = True
    return kind


def emptied(node, name):
    """The same node without the pod that is there, under another name."""
    free = {r: n + node.there.get(r, 0) for r, n in node.free.items()}
    if name != node.name:
        free = {r: n + node.ours.get(r, 0) for r, n in free.items()}
    labels = dict(node.labels)
    labels["kubernetes.io/hostname"] = name
    return Node(name, free, labels, node.tainted, node.cordoned)


def objects_of(cell):
    """Nodes, pods that take a part of them, and the members of the gang."""
    for node in cell.nodes:
        yield from _node_objects(cell, node)
    if cell.in_all:
        spec = {"minMember": cell.needed, "minResources": _amounts(cell.in_all)}
        meta = {"name": cell.name, "namespace": "default"}
        yield {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
               "metadata": meta, "spec": spec}
    for number, (index, at) in enumerate(cell.placed):
        pod = _member(cell, cell.kinds[index], index, 0)
        pod["metadata"]["name"] = f"{cell.name}-p{number}"
        pod["spec"]["nodeName"] = cell.nodes[at].name
        yield pod
    number = 0
    for index, kind in enumerate(cell.kinds):
        for _ in range(kind.members):
            yield _member(cell, kind, index, number)
            number += 1


def _amounts(amounts):
    return {r: f"{n}Gi" if r == "memory" else str(n) for r, n in amounts.items()}


def _node_objects(cell, node):
    have = _amounts({r: n + node.there.get(r, 0) + node.ours.get(r, 0)
                     for r, n in node.free.items()})
    spec = {}
    if node.tainted:
        spec["taints"] = [{"key": "reserved", "effect": "NoSchedule"}]
    if node.cordoned:
        spec["unschedulable"] = True
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": dict(node.labels, cell=cell.name)},
        "spec": spec,
        "status": {"allocatable": have, "capacity": have},
    }
    if node.there:
        container = _container({r: n for r, n in node.there.items() if n > 0}, node.port_taken)
        yield _pod(f"{node.name}-there", {}, {"nodeName": node.name, "containers": [container]})


def _container(takes, port):
    amounts = _amounts({r: n for r, n in takes.items() if r != "pods"})
    container = {"name": "main", "image": "pause"}
    container["resources"] = {"requests": amounts, "limits": amounts}
    if port:
        container["ports"] = [{"containerPort": 9000, "hostPort": 9000}]
    return container


def _pod(name, labels, spec):
    meta = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _member(cell, kind, index, number):
    labels = {"kind": f"{cell.name}-{index}"}
    if cell.in_all:
        labels["scheduling.x-k8s.io/pod-group"] = cell.name
    else:
        labels[f"{LABELS}/name"] = cell.name
        labels[f"{LABELS}/min-available"] = str(cell.needed + len(cell.placed))
    spec = {
        "containers": [_container(kind.takes, kind.port)],
        "nodeSelector": dict(kind.selector, cell=cell.name),
    }
    if kind.tolerates:
        spec["tolerations"] = [{"key": "reserved", "operator": "Exists"}]
    term = {"labelSelector": {"matchLabels": {"kind": labels["kind"]}}}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    if kind.apart:
        spec["affinity"] = {"podAntiAffinity": {required: [dict(term, topologyKey=kind.apart)]}}
    if kind.affinity:
        spec["affinity"] = {"podAffinity": {required: [dict(term, topologyKey=kind.together)]}}
    if cell.key:
        labels[f"{LABELS}/topology-key"] = cell.key
    if cell.min_sub_groups > 0:
        labels[f"{LABELS}/min-sub-groups"] = str(cell.min_sub_groups)
    _, role, part = cell.members()[number]
    if part is not None:
        labels[f"{LABELS}/sub-group"] = f"part-{part}"
        labels[f"{LABELS}/sub-group-min-available"] = str(cell.wholes[part])
    if role:
        labels[f"{LABELS}/role"] = role
    if role in cell.role_minimums:
        labels[f"{LABELS}/role-min-available"] = str(cell.role_minimums[role])
    return _pod(f"{cell.name}-m{number:03}", labels, spec)
