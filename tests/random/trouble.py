"""What happens to a random cluster, and that it is mended at the end."""

import gangs
import life as lives

SECONDS = ["1s", "5s", "30s"]


def happen(life):
    """One thing, or a few at the same moment."""
    for _ in range(life.rng.choice([1, 1, 1, 2, 3])):
        kinds = [(_delete_pod, 12), (_relabel, 22), (_change_object, 8), (_trouble_node, 22),
                 (_fault, 14), (_watch_fault, 5), (_restart, 5), (_change_reservation, 4),
                 (_stranger, 4), (_scale_job, 3), (_open_gate, 2), (_budget, 4), (_resize, 3)]
        life.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0](life)


def mend(life):
    """Everything that is broken, so that it must come to rest."""
    for name in life.budgets:
        life.add("delete", {"pdb": name})
    for name, state in life.nodes.items():
        if state == "dead":
            life.add("restart_node", name)
        if state != "gone":
            life.add("uncordon", name)
    life.add("apply", {"object": lives.storage_class("shaky", "none")})
    life.add("update_pod", {"of": {"pod": "*"}, "if_there": True, "remove_gates": ["*"],
                            "remove_finalizers": ["*"]})


def _any_pod(life):
    """A pod that was made; it may be gone."""
    return {"pod": life.rng.choice(life.pods)} if life.pods else {"pod": "nobody"}


def _delete_pod(life):
    what = {**_any_pod(life), "if_there": True}
    if life.chance(30):
        what["grace"] = 0
    life.add("delete", what)


# ---- gangs that change ----


def _relabel(life):
    if not life.gangs:
        return
    gang = life.rng.choice(life.gangs)
    labels = gangs.membership(gang)
    update = {"of": _any_pod(life), "if_there": True}
    if life.chance(70):
        update["of"] = {"pod": f"{gang.name}-{life.rng.randrange(gang.members)}"}
    kind = life.rng.random()
    if kind < 0.25 and labels:
        update["remove_labels"] = [life.rng.choice(list(labels))]
    elif kind < 0.5 and labels:
        update["of"] = _any_pod(life)
        update["labels"] = labels
    elif kind < 0.7 and labels:
        update["labels"] = gangs.membership(gang, life.rng.randint(1, gang.members + 1))
    elif kind < 0.8:
        update["labels"] = {f"{gangs.OURS}/role": life.rng.choice(["ps", "worker"]),
                            f"{gangs.OURS}/role-min-available": str(life.rng.randint(1, 3))}
    elif kind < 0.9:
        update["labels"] = {f"{gangs.OURS}/sub-group": life.rng.choice(["p0", "p1"]),
                            f"{gangs.OURS}/sub-group-min-available": "2"}
    elif kind < 0.95:
        update["labels"] = {"spark-role": "driver"}
    else:
        update["remove_labels"] = ["spark-role"]
    life.add("update_pod", update)


def _change_object(life):
    some = [gang for gang in life.gangs if gang.source in gangs.WITH_OBJECT]
    if not some:
        return
    gang = life.rng.choice(some)
    item = gangs.object_of(gang, life.rng.randint(1, gang.members + 1), life.rng)
    if life.chance(75):
        life.add("apply", {"object": item})
        return
    # It may have been deleted before.
    life.add("apply", {"object": item})
    life.add("delete", {"pod_group": gang.name})


def _change_reservation(life):
    if not life.reservations:
        return
    name = life.rng.choice(life.reservations)
    item = lives.reservation(life, name, life.rng.choice(life.gangs) if life.gangs else None)
    life.add("apply", {"object": item})
    if life.chance(50):
        life.add("delete", {"reservation": name})


# ---- nodes ----


def _nodes(life, state):
    return [name for name, now in life.nodes.items() if now == state]


def _trouble_node(life):
    up, dead = _nodes(life, "up"), _nodes(life, "dead")
    if dead and life.chance(40):
        name = life.rng.choice(dead)
        life.nodes[name] = "up"
        life.add("restart_node", name)
        return
    if not up:
        return
    name = life.rng.choice(up)
    kinds = [(_kill, 3), (_lose, 2), (_gain, 3), (_close, 4), (_drain, 1), (_change, 6)]
    life.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0](life, name)


def _kill(life, name):
    life.nodes[name] = "dead"
    life.add("kill_node", name)


def _lose(life, name):
    life.nodes[name] = "gone"
    life.add("delete", {"node": name})


def _gain(life, _):
    node = lives.make_node(life)
    life.make({"apiVersion": "v1", "kind": "Node",
               "metadata": {"name": node["name"], "labels": node["labels"]},
               "status": {"allocatable": {"pods": "110", **{
                   key: str(value) for key, value in node["allocatable"].items()}}}})


def _close(life, name):
    life.add(life.rng.choice(["cordon", "uncordon"]), name)


def _drain(life, name):
    life.add("drain", {"node": name, "budgets": "ignore"})


def _change(life, name):
    change = {"node": name}
    kind = life.rng.randrange(4)
    if kind == 0:
        change["labels"] = {gangs.RACK: life.rng.choice("abc")}
    elif kind == 1:
        change["remove_labels"] = [life.rng.choice([gangs.RACK, "disk"])]
    elif kind == 2:
        change["allocatable"] = {"cpu": life.rng.choice([1, 2, 4, 8])}
    elif life.chance(50):
        change["taints"] = [{"key": "example.com/own", "value": "x",
                             "effect": life.rng.choice(["NoSchedule", "NoExecute"])}]
    else:
        change["remove_taints"] = ["example.com/own"]
    life.add("update_node", change)


# ---- what goes wrong ----


def _fault(life):
    rng = life.rng
    kind = rng.choice(["refuse", "timeout", "answer_lost", "slow", "vanish", "no_answer"])
    fault = {rng.choice(["bind", "bind", "status", "volume", "evict"]): kind,
             "count": rng.randint(1, 4), "for": rng.choice(["1s", "20s", "5m"])}
    if kind in ("timeout", "slow", "answer_lost"):
        fault["delay"] = rng.choice(["1ms", "100ms", *SECONDS])
    if life.gangs and life.chance(40):
        fault["pod"] = f"{rng.choice(life.gangs).name}-*"
    life.add("fault", fault)


def _watch_fault(life):
    fault = {"watch": life.rng.choice(["pods", "nodes", "all"])}
    fault.update(life.rng.choice([{"late": "2s", "for": "20s"}, {"lost_for": "5s", "stale": "2s"},
                                  {"duplicate": 5}]))
    life.add("fault", fault)


def _restart(life):
    restart = {"stale": life.rng.choice(["0s", "0s", "3s"]),
               "list_first": life.rng.choice(["nodes", "pods"])}
    down = life.rng.choice(["0s", "0s", *SECONDS])
    if down != "0s":
        restart["down_for"] = down
    life.add("restart_scheduler", restart)
    # Nothing is asked of one that is down.
    if down != "0s":
        life.add("run_for", down)


# ---- others ----


def _stranger(life):
    up = _nodes(life, "up")
    if not up:
        return
    name = life.name("stranger-")
    life.add("create", {"pod": name, "node": life.rng.choice(up),
                        "requests": {"cpu": life.rng.choice([1, 2])},
                        "run_for": life.rng.choice(["10s", "60s", "10m"])})


def _scale_job(life):
    if life.jobs:
        life.add("scale", {"job": life.rng.choice(life.jobs), "replicas": life.rng.randint(0, 6)})


def _open_gate(life):
    life.add("update_pod", {"of": {"pod": "*"}, "if_there": True, "remove_gates": ["*"]})


def _budget(life):
    name = life.name("budget-")
    life.budgets.append(name)
    life.make({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
               "spec": {"minAvailable": life.rng.choice([1, 2, "50%"]),
                        "selector": {"matchLabels": {"app": life.rng.choice("abc")}}}})


def _resize(life):
    life.add("update_pod", {"of": _any_pod(life), "if_there": True,
                            "requests": {"cpu": life.rng.choice([1, 2, 3])}})
