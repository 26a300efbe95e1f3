"""Plays a scenario and says what is wrong with how it went, beside what the simulator checks."""

import collections
import json
import subprocess

import gangs
import profiles
import yaml_text

# Seconds. A life takes a fraction of one, on a machine that is free.
LONGEST = 600
# In a minute of the cluster, for each pod that ever was: what the scheduler says and does. A gang
# that does not fit is tried again after its back-off, which is a second at the least.
MOST_LINES, MOST_EVICTIONS = 40, 2


def play(program, scenario):
    """What went wrong, as a kind and a text; None: nothing did."""
    command = [program, "simulate", "-", "-o", "json", "--log"]
    try:
        done = subprocess.run(command, input=yaml_text.of_scenario(scenario), capture_output=True,
                              text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return "endless", f"it was not over after {LONGEST} s"
    if done.returncode == 2:
        return "refused", done.stderr.strip()
    if done.returncode not in (0, 1):
        return "crash", f"exit status {done.returncode}: {done.stderr.strip()}"
    result = json.loads(done.stdout)
    if result["violation"]:
        broken = result["violation"]
        return broken["invariant"], f"at {broken['at']} s: {broken['what']}"
    if not result["settled"]:
        return "rest", "it never came to rest"
    busy = _busy_minute(result)
    if busy:
        return "busy", busy
    half = _half_gang(scenario, result)
    return ("half", half) if half else None


def _busy_minute(result):
    pods = result["counts"]["podsCreated"]
    lines, evictions = collections.Counter(), collections.Counter()
    for entry in result["decisionLog"]["entries"]:
        at, what = entry.split("s ", 1)
        minute = int(float(at)) // 60
        lines[minute] += 1
        evictions[minute] += what.startswith("evict ")
    for what, counted, most in (("decisions", lines, MOST_LINES),
                                ("evictions", evictions, MOST_EVICTIONS)):
        minute, count = max(counted.items(), key=lambda item: item[1], default=(0, 0))
        if count > most * (pods + 1):
            return f"{count} {what} in minute {minute}, of {pods} pods"
    return None


# ---- gangs that are half at the end ----


def _half_gang(scenario, result):
    """Of gangs that nobody has touched: some run, too few, and nobody is asked to go."""
    evicting = {profile["schedulerName"] for profile in scenario["config"]["profiles"]
                if profiles.arguments(profile, "Coscheduling").get("evictIncomplete")}
    pods = {pod["name"]: pod for pod in result["pods"]}
    for (_, minimum), members in _untouched_gangs(scenario).items():
        there = [pods[name] for name in members if name in pods]
        running = [pod for pod in there if pod["phase"] in ("Pending", "Running") and pod["node"]]
        done = [pod for pod in there if pod["phase"] in ("Succeeded", "Failed")]
        ours = all(pod["schedulerName"] in evicting for pod in there)
        # Who is gone may have done its work before.
        if ours and not done and len(there) == len(members) and 0 < len(running) < minimum:
            names = ", ".join(pod["name"] for pod in running)
            return f"only {names} run, {minimum} have to"
    return None


def _untouched_gangs(scenario):
    """Names of the members of gangs of labels, by name and minimum, that stayed what they were."""
    out, touched = collections.defaultdict(list), set()
    for step in scenario["steps"]:
        if "update_pod" in step and step["update_pod"]["of"]["pod"] != "*":
            touched.add(step["update_pod"]["of"]["pod"])
            touched.update(step["update_pod"].get("labels", {}).values())
        # One that is found alone by a scheduler that starts is left alone.
        if "restart_scheduler" in step:
            return {}
        labels = step.get("create", {}).get("labels", {})
        name = labels.get(f"{gangs.OURS}/name")
        if name and "pod" in step["create"]:
            if "spark-role" in labels:
                touched.add(name)
            out[name, int(labels[f"{gangs.OURS}/min-available"])].append(step["create"]["pod"])
    return {gang: members for gang, members in out.items()
            if gang[0] not in touched and not touched & set(members)}
