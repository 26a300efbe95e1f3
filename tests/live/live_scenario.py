"""Plays a scenario file (docs/scenarios.md) on a real API server, where time is real.

There are no kubelets: a pod that has a node counts as running, and its run_for begins then. What a
scenario lets pass is cut short, since nothing but the scheduler does anything meanwhile; where the
scheduler itself goes by the clock (promised starts, reservations) a scenario is played as it is, or
not at all if that takes too long. How often a pod was tried, and that something does not happen
earlier, depends on times that are not ours here, and is not looked at.

Of the variants of a scenario one is played: the first value of each, and the last order.
"""

import datetime
import fnmatch
import json
import random
import re
import time

POD_LISTS = "/api/v1/pods"
LONGEST_PAUSE = 7
SHORTEST_PAUSE = 0.05  # what is to happen between two steps of the scheduler happens by luck
SETTLED_AFTER = 1
LONGEST_HOLD = 1
SHORTEST_WITHIN = 5  # where it is to be true soon
SOON = 10  # and where it is to be true at once, because in memory nothing takes time
LONGEST_PLAY = 8  # of a scenario that goes by the clock, what it lets pass
LONGEST_WITHIN = 15  # and by when something is to be true there
BY_THE_CLOCK = ("BackfillScoring", "ResourceReservation")
STEPS = {"create", "delete", "expect", "run_for", "settle", "cordon", "uncordon", "bind",
         "restart_scheduler", "update_node"}
CREATED = {"pod", "namespace", "count", "first", "order", "every", "labels", "annotations",
           "requests", "limits", "image", "host_ports", "node_selector", "affinity",
           "tolerations", "priority_class", "scheduler", "node", "gates", "spec", "object",
           "objects", "run_for"}
SELECTED = {"pod", "labels", "namespace"}
EXPECTED = SELECTED | {"within", "for", "count", "placed", "pending", "running", "succeeded",
                       "on", "not_on", "nominated", "scheduled", "reason", "message",
                       "message_contains", "message_prefix", "evictions", "events", "spread",
                       "attempts", "not_before"}
UPDATED = {"node", "labels", "remove_labels", "taints", "allocatable"}
RESERVATIONS = ("/apis/scheduling.kubenexus.io/v1alpha1/namespaces/default/"
                "resourcereservations")
KINDS = {"Pod", "Node", "Namespace", "PriorityClass", "PodDisruptionBudget", "Service",
         "ResourceReservation"}
WITHOUT_NAMESPACE = {"Node", "Namespace", "PriorityClass"}
UNITS = {"us": 1e-6, "ms": 0.001, "s": 1, "m": 60, "h": 3600}


def why_not(scenario):
    """What a scenario needs and only the embedded cluster has; "" if it can be played."""
    extra = set(scenario) - {"scenario", "why", "seed", "config", "cluster", "steps"}
    cluster = scenario.get("cluster", {})
    extra |= set(cluster) - {"nodes", "objects"}
    for node in cluster.get("nodes", []):
        extra |= set(node) - {"name", "count", "first", "labels", "taints", "allocatable",
                              "unschedulable"}
    made = cluster.get("objects", [])
    for step in scenario["steps"]:
        create = step.get("create", {})
        made = made + create.get("objects", []) + [create[key] for key in create if key == "object"]
        extra |= set(step) - STEPS
        extra |= set(step.get("restart_scheduler", {}))
        extra |= set(step.get("create", {})) - CREATED
        extra |= set(step.get("delete", {})) - SELECTED - {"reservation"}
        if seconds(create.get("every", 0)) * create.get("count", 1) > LONGEST_PAUSE:
            extra.add("a create that takes too long")
        extra |= set(step.get("expect", {})) - EXPECTED
        extra |= set(step.get("update_node", {})) - UPDATED
    extra |= {item["kind"] for item in made} - KINDS
    if any(0 < seconds(step.get("run_for", 0)) < SHORTEST_PAUSE for step in scenario["steps"]):
        extra.add("a moment that cannot be met")
    if goes_by_the_clock(scenario):
        waits = [step.get("run_for", 0) for step in scenario["steps"]]
        waits += [step["expect"].get("for", 0) for step in scenario["steps"] if "expect" in step]
        if sum(map(seconds, waits)) > LONGEST_PLAY:
            extra.add("waits that are too long")
        if any(seconds(step.get("expect", {}).get("within", 0)) > LONGEST_WITHIN
               for step in scenario["steps"]):
            extra.add("something that comes too late")
    return ", ".join(sorted(extra))


def goes_by_the_clock(scenario):
    return any(name in scenario.get("config", "") for name in BY_THE_CLOCK)


def in_variant(scenario):
    """The scenario with values in the stead of the names of its variants."""
    scenario = dict(scenario)
    values = {name: each[-1] if name == "order" else each[0]
              for name, each in scenario.pop("variants", {}).items()}
    return substituted(scenario, values) if values else scenario


def substituted(value, values, key=""):
    if isinstance(value, dict):
        return {name: substituted(item, values, name) for name, item in value.items()}
    if isinstance(value, list):
        return [substituted(item, values) for item in value]
    if not isinstance(value, str) or "$" not in value:
        return value

    def result(match):
        name, factor, summand = match.group(1) or match.group(4), match.group(2), match.group(3)
        if name not in values:
            return match.group(0)
        if not factor and not summand:
            return str(values[name])
        number = int(values[name])
        if factor:
            by = int(factor[1:])
            number = {"*": number * by, "/": number // by, "%": number % by}[factor[0]]
        return str(number + int(summand or 0))
    text = re.sub(r"\$(?:\(([a-z]\w*)([*/%]\d+)?([+-]\d+)?\)|([a-z]\w*))", result, value)
    # What was a number and what a text is not known any more.
    return int(text) if key in ("count", "first", "seed") and text.isdigit() else text


def seconds(text):
    """Of a duration such as 1m30s."""
    parts = re.findall(r"([\d.]+)(us|ms|s|m|h)", str(text))
    return sum(float(number) * UNITS[unit] for number, unit in parts)


def numbered(value, i):
    """The value with $i, $(i%n) and $(i/n) in its texts replaced."""
    def result(match):
        sign, by = match.group(1), int(match.group(2))
        return str(i % by if sign == "%" else i // by)
    text = re.sub(r"\$\(i([%/])(\d+)\)", result, json.dumps(value)).replace("$i", str(i))
    return json.loads(text)


def each(entry):
    """What an entry with a count stands for, one after the other."""
    entry = dict(entry)
    count, first = entry.pop("count", 1), entry.pop("first", 1)
    numbers, order = list(range(first, first + count)), entry.pop("order", "forwards")
    if order == "backwards":
        numbers.reverse()
    if order == "shuffled":
        random.Random(count).shuffle(numbers)
    return [numbered(entry, i) for i in numbers]


def node_object(node):
    texts = {name: str(amount) for name, amount in {"pods": 110, **node["allocatable"]}.items()}
    labels = {"kubernetes.io/hostname": node["name"], **node.get("labels", {})}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": node["name"], "labels": labels},
            "spec": {"taints": node.get("taints", []),
                     "unschedulable": node.get("unschedulable", False)},
            "status": {"allocatable": texts, "capacity": texts,
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod_object(pod):
    spec = dict(pod.get("spec", {}))
    if "containers" not in spec:
        container = {"name": "c", "image": pod.get("image", "registry.example/c"), "resources": {
            key: {name: str(amount) for name, amount in pod[key].items()}
            for key in ("requests", "limits") if key in pod}}
        for name, amount in container["resources"].get("requests", {}).items():
            if "/" in name:  # an API server wants both
                container["resources"].setdefault("limits", {}).setdefault(name, amount)
        ports = [p if isinstance(p, dict) else {"port": p} for p in pod.get("host_ports", [])]
        container["ports"] = [
            {"containerPort": p["port"], "hostPort": p["port"],
             "protocol": p.get("protocol", "TCP"), "hostIP": p.get("ip", "")} for p in ports]
        spec["containers"] = [container]
    names = {"node_selector": "nodeSelector", "affinity": "affinity", "tolerations": "tolerations",
             "priority_class": "priorityClassName", "scheduler": "schedulerName",
             "node": "nodeName"}
    spec.update({field: pod[key] for key, field in names.items() if key in pod})
    if "gates" in pod:
        spec["schedulingGates"] = [{"name": name} for name in pod["gates"]]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": pod["pod"], "namespace": pod.get("namespace", "default"),
                         "labels": pod.get("labels", {}),
                         "annotations": pod.get("annotations", {})},
            "spec": spec}


def completed(item):
    """The object with what an API server insists on and the embedded cluster does not."""
    item = json.loads(json.dumps(item))
    if item["kind"] == "Service":
        item["spec"].setdefault("ports", [{"port": 80}])
    if item["kind"] == "Node":
        item["status"]["allocatable"].setdefault("pods", "110")
    if item["kind"] == "Pod":
        item["spec"].setdefault("terminationGracePeriodSeconds", 0)
        for container in item["spec"]["containers"] + item["spec"].get("initContainers", []):
            container.setdefault("image", "registry.example/c")
    return item


def in_range(number, wanted):
    """Whether the number is as an expectation has it: 3, "2..4", ">= 2" or "<= 4"."""
    text = str(wanted)
    if ".." in text:
        least, most = text.split("..")
        return int(least) <= number <= int(most)
    if text.startswith(">="):
        return number >= int(text[2:])
    if text.startswith("<="):
        return number <= int(text[2:])
    return number == int(text)


def is_one_of(name, patterns):
    patterns = patterns if isinstance(patterns, list) else [patterns]
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


class LiveScenario:
    """One run. The scheduler is the caller's to start, after prepare(), and to start again."""

    def __init__(self, plane, scenario, restart):
        self._plane, self._scenario, self._restart = plane, scenario, restart
        self._as_it_is = goes_by_the_clock(scenario)
        self._begin = None
        self._made = []  # paths of what is neither a pod nor a node
        # Those that were made stay: without controllers a namespace cannot end.
        spaces = plane.get("/api/v1/namespaces")["items"]
        self._spaces = {space["metadata"]["name"] for space in spaces}
        self._lives = {}  # of pods that end by themselves: how long, and since when

    def prepare(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        self._begin = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        cluster = self._scenario.get("cluster", {})
        for node in cluster.get("nodes", []):
            for one in each(node):
                self._plane.create("/api/v1/nodes", node_object(one))
        for item in cluster.get("objects", []):
            self._create_object(item)

    def play(self):
        """Says what does not hold, "" if all does."""
        for number, step in enumerate(self._scenario["steps"], 1):
            (verb, what), = step.items()
            complaint = getattr(self, f"_{verb}")(what)
            if complaint:
                return f"step {number}, {json.dumps(what)}: {complaint}"
        return ""

    def clean_up(self):
        for path in [f"/api/v1/namespaces/{space}/pods" for space in self._spaces]:
            self._plane.request("DELETE", path + "?gracePeriodSeconds=0")
        self._plane.request("DELETE", "/api/v1/nodes")
        for path in self._made:
            self._plane.request("DELETE", path)

    # ---- steps ----

    def _create(self, what):
        gap = seconds(what.get("every", 0))
        for one in each(what):
            time.sleep(gap)
            if "pod" in one:
                pod = pod_object(one)
                if "run_for" in one:
                    self._lives[one["pod"]] = [seconds(one["run_for"]), None]
                self._create_object(pod)
            for item in one.get("objects", [one["object"]] if "object" in one else []):
                self._create_object(item)

    def _create_namespace(self, name, labels=None):
        if name in self._spaces:
            return
        self._spaces.add(name)
        self._plane.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                  "metadata": {"name": name,
                                                               "labels": labels or {}}})

    def _create_object(self, item):
        item = completed(item)
        if item["kind"] == "Namespace":
            self._create_namespace(item["metadata"]["name"], item["metadata"].get("labels"))
            return
        resource = item["kind"].lower() + ("es" if item["kind"].endswith("s") else "s")
        group = "/apis/" if "/" in item["apiVersion"] else "/api/"
        space = item["metadata"].get("namespace", "default")
        spaces = "" if item["kind"] in WITHOUT_NAMESPACE else f"/namespaces/{space}"
        if spaces:
            self._create_namespace(space)
        path = f"{group}{item['apiVersion']}{spaces}/{resource}"
        self._plane.create(path, item)
        if item["kind"] not in ("Pod", "Node"):
            self._made.append(f"{path}/{item['metadata']['name']}")

    def _delete(self, what):
        if "reservation" in what:
            path = f"{RESERVATIONS}/{what['reservation']}"
            self._made.remove(path)
            self._plane.request("DELETE", path)
            return
        for pod in self._select(what):
            meta = pod["metadata"]
            self._plane.request("DELETE", f"/api/v1/namespaces/{meta['namespace']}/pods/"
                                          f"{meta['name']}?gracePeriodSeconds=0")

    def _cordon(self, node, closed=True):
        self._plane.request("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": closed}},
                            "application/merge-patch+json")

    def _uncordon(self, node):
        self._cordon(node, False)

    def _bind(self, what):
        self._plane.create(
            f"/api/v1/namespaces/default/pods/{what['pod']}/binding",
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": what["pod"]},
             "target": {"kind": "Node", "name": what["node"]}})

    def _update_node(self, what):
        for node in self._plane.get("/api/v1/nodes")["items"]:
            name = node["metadata"]["name"]
            if not is_one_of(name, what["node"]):
                continue
            labels = {**what.get("labels", {}), **dict.fromkeys(what.get("remove_labels", []))}
            taints = {(t["key"], t["effect"]): t for t in
                      node["spec"].get("taints", []) + what.get("taints", [])}
            self._plane.request(
                "PATCH", f"/api/v1/nodes/{name}",
                {"metadata": {"labels": labels}, "spec": {"taints": list(taints.values())}},
                "application/merge-patch+json")
            room = {key: str(amount) for key, amount in what.get("allocatable", {}).items()}
            self._plane.request("PATCH", f"/api/v1/nodes/{name}/status",
                                {"status": {"allocatable": room, "capacity": room}},
                                "application/merge-patch+json")

    def _restart_scheduler(self, _):
        self._restart()

    def _run_for(self, duration):
        span = seconds(duration)
        end = time.monotonic() + (span if self._as_it_is else min(span, LONGEST_PAUSE))
        while time.monotonic() < end:
            self._let_pods_end()
            time.sleep(0.1)

    def _settle(self, _):
        self._run_for(f"{SETTLED_AFTER}s")

    def _let_pods_end(self):
        if not self._lives:
            return
        for pod in self._plane.get(POD_LISTS)["items"]:
            life = self._lives.get(pod["metadata"]["name"])
            if life is None or not pod["spec"].get("nodeName"):
                continue
            life[1] = life[1] or time.monotonic()
            if time.monotonic() - life[1] < life[0]:
                continue
            meta = pod["metadata"]
            # A kubelet says when, too: by that it is known to which run of a gang the pod belongs.
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            ended = {"type": "Ready", "status": "False", "reason": "PodCompleted",
                     "lastTransitionTime": now}
            self._plane.request(
                "PATCH", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status",
                {"status": {"phase": "Succeeded", "conditions": [ended]}},
                "application/strategic-merge-patch+json")
            del self._lives[meta["name"]]

    def _expect(self, what):
        end = time.monotonic() + self._patience(what)
        while (complaint := self._complaint(what)) and time.monotonic() < end:
            self._let_pods_end()
            time.sleep(0.05)
        if complaint:
            return complaint
        span = seconds(what.get("for", 0))
        end = time.monotonic() + (span if self._as_it_is else min(span, LONGEST_HOLD))
        while time.monotonic() < end:
            if complaint := self._complaint(what):
                return f"for a while it held, but then {complaint}"
            time.sleep(0.05)
        return ""

    def _patience(self, what):
        """How long it may take until an expectation is true. What must not happen is not excused
        by waiting: a pod that was placed or evicted stays so."""
        if self._as_it_is:  # Then something else may be true later.
            return max(seconds(what["within"]), SHORTEST_WITHIN) if "within" in what else 0
        return max(seconds(what.get("within", 0)), SOON)

    # ---- what is so ----

    def _select(self, what):
        def is_meant(pod):
            meta = pod["metadata"]
            labels = meta.get("labels", {}).items()
            return (fnmatch.fnmatchcase(meta["name"], what.get("pod", "*"))
                    and meta["namespace"] == what.get("namespace", meta["namespace"])
                    and what.get("labels", {}).items() <= labels)
        return [pod for pod in self._plane.get(POD_LISTS)["items"] if is_meant(pod)]

    def _events(self):
        events = self._plane.get("/apis/events.k8s.io/v1/events")["items"]
        return [event for event in events if (event["eventTime"] or "") >= self._begin]

    def _evictions(self):
        return len([event for event in self._events() if event["reason"] == "Preempted"])

    def _complaint(self, what):
        pods = self._select(what)
        placed = [pod for pod in pods if pod["spec"].get("nodeName")]
        pending = [pod for pod in pods if not pod["spec"].get("nodeName")]
        ended = [pod for pod in pods if pod["status"].get("phase") == "Succeeded"]
        running = [pod for pod in placed if pod not in ended]
        counts = {"count": pods, "placed": placed, "running": running, "succeeded": ended,
                  "pending": pending}
        for key, those in counts.items():
            if key in what and not in_range(len(those), what[key]):
                return f"{key} is {len(those)}"
        if "evictions" in what and not in_range(self._evictions(), what["evictions"]):
            return f"evictions are {self._evictions()}"
        return (self._complaint_about_nodes(what, pods) or self._complaint_about_words(what, pods)
                or self._complaint_about_events(what) or self._complaint_about_spread(what, placed))

    def _complaint_about_events(self, what):
        for wanted in what.get("events", []):
            def is_meant(event, wanted=wanted):
                note = event.get("note", "")
                return (fnmatch.fnmatchcase(event["regarding"]["name"], what.get("pod", "*"))
                        and event["reason"] == wanted.get("reason", event["reason"])
                        and event["type"] == wanted.get("type", event["type"])
                        and note == wanted.get("note", note)
                        and wanted.get("note_contains", "") in note
                        and note.startswith(wanted.get("note_prefix", "")))
            seen = sum(event.get("series", {}).get("count", 1)
                       for event in self._events() if is_meant(event))
            if not in_range(seen, wanted.get("count", ">= 1")):
                return f"there are {seen} events {wanted}"
        return ""

    def _complaint_about_spread(self, what, placed):
        if "spread" not in what:
            return ""
        wanted, counts = what["spread"], {}
        for node in self._plane.get("/api/v1/nodes")["items"]:
            value = node["metadata"].get("labels", {}).get(wanted["by"])
            there = [p for p in placed if p["spec"]["nodeName"] == node["metadata"]["name"]]
            if value is not None or there:
                counts[value] = counts.get(value, 0) + len(there)
        if "counts" in wanted:
            some = {value: n for value, n in counts.items() if n}
            if some != {value: n for value, n in wanted["counts"].items() if n}:
                return f"they are spread as {some}"
        if max(counts.values()) - min(counts.values()) > wanted.get("max_skew", len(placed)):
            return f"they are spread as {counts}"
        return ""

    @staticmethod
    def _complaint_about_nodes(what, pods):
        nodes = [pod["spec"].get("nodeName", "") for pod in pods]
        if "on" in what and not (nodes and all(is_one_of(n, what["on"]) for n in nodes)):
            return f"they are on {nodes}"
        if "not_on" in what and any(n and is_one_of(n, what["not_on"]) for n in nodes):
            return f"they are on {nodes}"
        nominated = [pod["status"].get("nominatedNodeName", "") for pod in pods]
        if "nominated" in what and not all(is_one_of(n, what["nominated"]) for n in nominated):
            return f"they are nominated to {nominated}"
        return ""

    @staticmethod
    def _complaint_about_words(what, pods):
        def condition(pod):
            found = [c for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled"]
            return found[0] if found else {}
        if "scheduled" in what:
            wanted = "True" if what["scheduled"] else "False"
            seen = [condition(pod).get("status") for pod in pods]
            if not seen or set(seen) != {wanted}:
                return f"PodScheduled is {seen}"
        if not {"reason", "message", "message_contains", "message_prefix"} & set(what):
            return ""
        waiting = [condition(pod) for pod in pods if not pod["spec"].get("nodeName")]
        for said in waiting:
            message = said.get("message", "")
            right = (said.get("reason") == what.get("reason", said.get("reason"))
                     and message == what.get("message", message)
                     and what.get("message_contains", "") in message
                     and message.startswith(what.get("message_prefix", "")))
            if not right:
                return f"one of them says {said}"
        return "" if waiting else "none of them waits"
