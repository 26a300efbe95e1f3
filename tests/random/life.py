"""The life of a random cluster: what is there, what is made, and that it is left alone at the end.

Everything that KubeNexus can do is mixed: gangs of every kind, drivers, reservations, backfill,
evictions, volumes. What happens to them meanwhile is in trouble.py.
"""

import gangs
import profiles
import trouble

CLASSES = ["low", "mid", "high", "polite"]
# Longer than any run time, reservation or back-off that a life has in it.
QUIET = "24h"


class Life:
    def __init__(self, rng):
        self.rng = rng
        self.steps = []
        self.nodes = {}  # by name: "up", "dead" or "gone"
        self.gangs = []
        self.pods = []  # names, of all that were ever made by themselves
        self.jobs, self.budgets, self.reservations = [], [], []
        self.count = 0
        self.config = profiles.make(rng)
        self.schedulers = [each["schedulerName"] for each in self.config["profiles"]]

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def add(self, verb, what):
        self.steps.append({verb: what})

    def chance(self, percent):
        return self.rng.random() * 100 < percent

    def make(self, item):
        self.add("create", {"object": item})


def make(rng, seed):
    """A scenario, as what a file of one would be read to."""
    life = Life(rng)
    cluster = {"nodes": [make_node(life) for _ in range(rng.randint(2, 12))],
               "objects": _objects(life)}
    if life.chance(30):
        cluster["timing"] = {"start": rng.choice(["0s", "5s"]), "stop": rng.choice(["0s", "20s"]),
                             "watch": rng.choice(["0s", "1ms", "100ms"])}
    most_pods = rng.choice([6, 12, 25, 40, 60])
    quiet = life.chance(20)  # nothing but work
    while len(life.pods) < most_pods:
        _add_work(life)
        if not quiet and life.chance(60):
            trouble.happen(life)
        _pass_time(life)
    for _ in range(0 if quiet else rng.randint(0, 12)):
        trouble.happen(life)
        _pass_time(life)
    trouble.mend(life)
    life.add("settle", QUIET)
    return {
        "scenario": f"random cluster {seed}",
        "why": "what nobody has thought of",
        "seed": seed,
        "config": life.config,
        "cluster": cluster,
        "steps": life.steps,
    }


def make_node(life):
    name = life.name("node-")
    life.nodes[name] = "up"
    rng = life.rng
    node = {"name": name, "labels": {gangs.RACK: rng.choice("abc")},
            "allocatable": {"cpu": rng.choice([2, 4, 4, 8]), "memory": "16Gi"}}
    if life.chance(40):
        node["allocatable"]["nvidia.com/gpu"] = rng.choice([1, 2, 4])
    if life.chance(10):
        node["allocatable"]["pods"] = rng.choice([2, 4])
    if life.chance(30):
        node["labels"]["disk"] = "ssd"
    if life.chance(8):
        node["taints"] = [{"key": "example.com/own", "value": "x", "effect": "NoSchedule"}]
    return node


def _objects(life):
    values = {"low": -10, "mid": 100, "high": 1000, "polite": 2000}
    out = []
    for name, value in values.items():
        item = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": name}, "value": value}
        if name == "polite":
            item["preemptionPolicy"] = "Never"
        out.append(item)
    for name in ("fast", "slow", "shaky"):
        out.append(storage_class(name, next(iter(life.nodes))))
    return out


def storage_class(name, node):
    notes = {"slow": {"sim.kubenexus.io/provision-after": "3s"},
             "shaky": {"sim.kubenexus.io/fails-on": node}}.get(name, {})
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": name, "annotations": notes}, "provisioner": "example.com/disks",
            "volumeBindingMode": "WaitForFirstConsumer"}


def _pass_time(life):
    """Mostly a moment, so that things come in between; sometimes for long."""
    kind = life.rng.random()
    if kind < 0.35:
        return
    if kind < 0.6:
        life.add("run_for", f"{life.rng.randint(1, 12)}ms")
    elif kind < 0.95:
        life.add("run_for", f"{life.rng.randint(1, 40)}s")
    else:
        life.add("run_for", f"{life.rng.randint(1, 20)}m")


# ---- work ----


def _add_work(life):
    kinds = [(add_gang, 55), (_add_single, 25), (_add_job, 10), (add_reservation, 10)]
    life.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0](life)


def _shape(life):
    """What pods of one kind have in common."""
    rng = life.rng
    pod = {"requests": {"cpu": rng.choice([1, 1, 1, 2, 3])}}
    if life.chance(25):
        pod["requests"]["nvidia.com/gpu"] = rng.choice([1, 1, 2])
    if life.chance(45):
        pod["priority_class"] = rng.choice(CLASSES)
    if life.chance(75):
        seconds = rng.choice([5, 30, 120, 1200])
        pod["run_for"] = f"{seconds}s"
        if life.chance(50):
            said = rng.choice([seconds, seconds, seconds // 2 + 1, seconds * 3])
            pod.setdefault("annotations", {})["scheduling.kubenexus.io/expected-duration"] = \
                f"{said}s"
        if life.chance(8):
            pod["ends_as"] = "Failed"
    pod["scheduler"] = rng.choice(life.schedulers)
    if life.chance(10):
        pod["tolerations"] = [{"key": "example.com/own", "operator": "Exists"}]
    if life.chance(10):
        pod["node_selector"] = {"disk": "ssd"}
    if life.chance(10):
        pod["grace"] = rng.choice([0, 5, 60])
    return pod


def _details(life, pod):
    """What one pod may have that its like do not have."""
    rng = life.rng
    labels = pod.setdefault("labels", {})
    labels["app"] = rng.choice(["a", "b", "c"])
    if life.chance(12):
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                 "storageClassName": rng.choice(["fast", "slow", "slow", "shaky"])}
        pod.setdefault("spec", {})["volumes"] = [
            {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]
    if life.chance(5):
        pod["gates"] = ["example.com/gate"]
    if life.chance(5):
        pod["finalizers"] = ["example.com/hold"]
    if life.chance(5):
        pod["host_ports"] = [8080]
    if life.chance(6):
        labels["workload.kubenexus.io/preemptible"] = rng.choice(["true", "false"])
    if life.chance(5):
        labels["scheduling.kubenexus.io/backfill"] = rng.choice(["true", "false"])
    if life.chance(5):
        labels["tenant.kubenexus.io/tier"] = rng.choice(["gold", "bronze"])
    if life.chance(5):
        term = {"labelSelector": {"matchLabels": {"app": labels["app"]}},
                "topologyKey": rng.choice(["kubernetes.io/hostname", gangs.RACK])}
        kind = rng.choice(["podAffinity", "podAntiAffinity"])
        pod["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        # Who evicts those that it wants to be near may follow them for ever, as they are made again
        # elsewhere. kube-scheduler does that, too.
        if kind == "podAffinity":
            pod["priority_class"] = "polite"


def _add_single(life):
    name = life.name("single-")
    pod = {"pod": name, **_shape(life)}
    _details(life, pod)
    if life.reservations and life.chance(20):
        pod["labels"]["scheduling.kubenexus.io/app-id"] = life.rng.choice(life.reservations)
    life.pods.append(name)
    life.add("create", pod)


def add_gang(life):
    gang = gangs.make(life.rng, life.name("gang-"), life.rng.choice([3, 5, 8]))
    life.gangs.append(gang)
    item = gangs.object_of(gang, rng=life.rng)
    late = item is not None and life.chance(25)
    if item is not None and not late:
        life.make(item)
    if life.chance(15):
        add_reservation(life, gang)
    shape = _shape(life)
    numbers = list(range(gang.members))
    life.rng.shuffle(numbers)
    if gang.driver:
        numbers.sort(key=lambda number: number != 0)
    for number in numbers:
        add_member(life, gang, number, shape)
        if life.chance(10):
            _pass_time(life)
    if late:
        life.make(item)


def add_member(life, gang, number, shape):
    name = f"{gang.name}-{number}"
    pod = {"pod": name, **{key: _copy(value) for key, value in shape.items()}}
    if life.chance(8):
        pod["requests"]["cpu"] = life.rng.choice([1, 2, 4])
    if life.chance(5):
        pod["scheduler"] = life.rng.choice(life.schedulers)
    if life.chance(4):
        pod["priority_class"] = life.rng.choice(CLASSES)
    _details(life, pod)
    gangs.join(gang, number, pod)
    if gang.driver and number == 0:
        pod["labels"]["spark-role"] = "driver"
        if life.chance(60):
            pod["annotations"]["scheduling.kubenexus.io/executor-resources"] = \
                f"cpu={shape['requests']['cpu']}"
    life.pods.append(name)
    life.add("create", pod)


def _copy(value):
    return dict(value) if isinstance(value, dict) else value


def _add_job(life):
    """Pods that are made again: a gang of its own, or none."""
    name, count = life.name("job-"), life.rng.randint(1, 5)
    job = {"job": name, "parallelism": count, "completions": count, **_shape(life)}
    job.pop("ends_as", None)
    job.setdefault("labels", {})["app"] = life.rng.choice(["a", "b", "c"])
    if count > 1 and life.chance(70):
        gangs.join(gangs.Gang(name, "ours", count, life.rng.randint(2, count)), 0, job)
    life.jobs.append(name)
    life.pods += [name] * count
    life.add("create", job)


def reservation(life, name, gang):
    rng = life.rng
    spec = {"resources": {"cpu": str(rng.choice([1, 2, 3]))}, "count": rng.randint(1, 4),
            "duration": rng.choice(["30s", "5m", "1h"])}
    if gang:
        spec["podGroupName"] = gang.name
        if life.chance(50):
            spec["count"] = gang.minimum - int(gang.driver)
    if life.chance(20):
        spec["start"] = f"2026-01-01T00:{rng.randint(0, 59):02}:00Z"
    return {"apiVersion": "scheduling.kubenexus.io/v1alpha1", "kind": "ResourceReservation",
            "metadata": {"name": name}, "spec": spec}


def add_reservation(life, gang=None):
    if gang is None and life.gangs and life.chance(60):
        gang = life.rng.choice(life.gangs)
    name = life.name("reserved-")
    life.reservations.append(name)
    life.make(reservation(life, name, gang))
