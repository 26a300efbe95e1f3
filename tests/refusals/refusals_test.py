"""Confirms every "impossible" of the gang planner on many random clusters, with none of its code.

refusals_test.py BIN/kubenexus [--seed N] [--batches N] [--cells N] [--workloads FILE]

Every stated reason is counted again, on clusters of any size, those of a benchmark among them; and
on those where up to twelve nodes have room for anybody all ways to place the gang are tried, also
with the changes that `explain` says would help. Some have members that have a place already, and
some want much to be left in all. Where more could start than must, nobody may wait who has room.
Whether places are right is the simulation's own
business, which checks every invariant; that as many are placed as must be is checked here.
"""

import argparse
import dataclasses
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import cells
import exact

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXACT_UP_TO = 12
# So many cells of a batch have a cluster for themselves.
DEMANDING = 3
# Of 1000 gangs for which there is a way, at most so many may be told that none was found.
MOST_MISSED = 20

CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}
"""

REASON = re.compile(
    r"Impossible now: at most (?P<most>\d+)"
    r"(?: of (?:role (?P<role>\S+)|(?P<roles>those that its roles need)))? fit"
    r"(?: by (?P<by>[^\s,]+(?:, [^\s,]+)*?)(?P<all> together)?)?"
    r"(?:, one in each (?P<apart>\S+?))?(?: in one (?P<together>\S+?))?"
    r"(?P<nodes> on the nodes that come into question)?\.$")
# Of this only all ways can tell.
ALL_TRIED = "Impossible now: every way was tried."
NONE_IS_ENOUGH = "Impossible now: none of them has room for so many."
TOO_LITTLE_IN_ALL = re.compile(
    r" needs (?P<wanted>\d+) (?P<of>\S+) in all \(minResources\), (?P<left>\d+) (?:is|are) free\.$")
NOT_FOUND = re.compile(r"No way was found within \d+ evaluations; there may be one\.$")


def run(program, objects, *arguments):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(CONFIG)
        config.flush()
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        command = [program, *arguments, "-", "--config", config.name, "--until", "20s"]
        command += ["-o", "json"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(f"{arguments} failed: {done.stderr}")
    result = json.loads(done.stdout)
    if result.get("violation"):
        raise SystemExit(f"{arguments} failed: {result['violation']}")
    return result


def is_small(cell):
    """All ways can be tried: nodes without room for anybody cost nothing."""
    return all(len(nodes) <= EXACT_UP_TO for nodes in exact.choices_of_nodes(cell))


def check_reason(cell, message):
    """What is wrong with the message of a gang that was not placed; nothing if it is right."""
    if too_little := TOO_LITTLE_IN_ALL.search(message):
        return check_left_in_all(cell, too_little)
    if cell.placed and f" has {len(cell.placed)} of " not in message:
        return f"{len(cell.placed)} have their places already"
    if message.endswith(NONE_IS_ENOUGH) and not exact.counted_out(cell):
        return "counted again, one of them may be enough"
    if message.endswith((ALL_TRIED, NONE_IS_ENOUGH)):
        if is_small(cell) and exact.can_be_placed(cell):
            return "it can be placed"
        return None
    stated = REASON.search(message)
    if stated is None:
        return None if NOT_FOUND.search(message) else "the message has no answer"
    most = int(stated["most"])
    resources = stated["by"].split(", ") if stated["by"] else []
    counted, least = cell, cell.least
    if stated["role"]:
        counted, least = cell.of_role(stated["role"]), cell.role_minimums[stated["role"]]
    elif stated["roles"]:
        counted, least = cell.of_roles(), sum(cell.role_minimums.values())
    again = exact.recount(counted, resources, stated["apart"] or "", stated["together"] or "")
    if again != most:
        return f"counted again it is {again}"
    if most >= least:
        return f"{most} are enough"
    if is_small(cell) and exact.can_be_placed(cell):
        return "it can be placed"
    return None


def check_left_in_all(cell, stated):
    """The same for one that says too little is left in all."""
    wanted = cell.in_all.get(stated["of"])
    left = exact.left_in_all(cell, stated["of"])
    if wanted != int(stated["wanted"]):
        return "it does not want that"
    if left != int(stated["left"]) or left >= wanted:
        return f"counted again {left} are left"
    return None


def check_parts(cell, placed):
    """What is there in parts, and what is missing."""
    of_parts, of_roles = [0] * len(cell.wholes), dict.fromkeys(cell.role_minimums, 0)
    for pod in placed:
        _, role, part = cell.members()[int(pod["name"].rpartition("-m")[2])]
        if part is not None:
            of_parts[part] += 1
        if role in of_roles:
            of_roles[role] += 1
    for part, minimum in enumerate(cell.wholes):
        if 0 < of_parts[part] < minimum:
            return f"{of_parts[part]} of part {part} are placed, {minimum} must be"
    whole = sum(count > 0 for count in of_parts)
    if whole < cell.min_sub_groups:
        return f"{whole} sub-groups are whole, {cell.min_sub_groups} must be"
    for role, minimum in cell.role_minimums.items():
        if of_roles[role] < minimum:
            return f"{of_roles[role]} of role {role} are placed, {minimum} must be"
    return None


def check_places(cell, pods):
    """What is wrong with the places of a gang; nothing if they are all right."""
    placed = [pod for pod in pods if pod["node"]]
    if 0 < len(placed) < cell.needed:
        return f"{len(placed)} are placed, {cell.needed} must be"
    for resource, wanted in cell.in_all.items():
        if placed and exact.left_in_all(cell, resource) < wanted:
            return f"too little {resource} is left in all"
    by_name = {pod["name"]: pod["node"] for pod in pods}
    places = [by_name[name] for name in sorted(by_name)]
    if placed and cells.is_plain(cell) and (node := exact.room_for_more(cell, places)):
        return f"somebody waits who has room on {node}"
    labels = {node.name: node.labels for node in cell.nodes}
    wrong = check_parts(cell, placed)
    if placed and wrong:
        return wrong
    domains = {labels[pod["node"]].get(cell.key) for pod in placed}
    if cell.key and (len(domains) > 1 or None in domains):
        return f"they are not in one {cell.key}"
    if len({pod["scheduled"]["reason"] for pod in pods if not pod["node"]} - {"Unschedulable"}) > 0:
        return "a member that waits is not marked as unschedulable"
    return None


def answer_of(cell, pods):
    """What was answered, and what is wrong with that."""
    wrong = check_places(cell, pods)
    if wrong or any(pod["node"] for pod in pods):
        return "placed", wrong
    messages = {pod["scheduled"]["message"] for pod in pods}
    if len(messages) != 1:
        return "refused", f"members say different things: {messages}"
    message = messages.pop()
    answer = "not found" if NOT_FOUND.search(message) else "impossible"
    wrong = check_reason(cell, message)
    return answer, f"{message}: {wrong}" if wrong else None


def check_help(program, cell, tally):
    """What is wrong with what is said to help a gang that is impossible."""
    gang = run(program, list(cells.objects_of(cell)), "explain", cell.name)["gang"]
    nodes = {node.name: node for node in cell.nodes}
    ways = []
    if gang["moreNodes"] > 0:
        like = nodes[gang["like"]]
        new = [cells.emptied(like, f"{like.name}-new{i}") for i in range(gang["moreNodes"])]
        ways.append(("moreNodes", cell.nodes + new))
    if gang["podsInTheWay"]:
        gone = set(gang["podsInTheWay"])
        left = [
            cells.emptied(node, node.name) if f"default/{node.name}-there" in gone else node
            for node in cell.nodes
        ]
        ways.append(("podsInTheWay", left))
    for what, changed in ways:
        tally[f"helped by {what}"] = tally.get(f"helped by {what}", 0) + 1
        if not exact.can_be_placed(dataclasses.replace(cell, nodes=changed)):
            return f"{what} would not help: {gang}"
    return None


def can_start(cell):
    left = all(exact.left_in_all(cell, r) >= n for r, n in cell.in_all.items())
    return left and exact.can_be_placed(cell)


def simulate(program, batch):
    """The members of each cell that had no place from the beginning."""
    objects = [item for cell in batch for item in cells.objects_of(cell)]
    by_cell = {}
    for pod in run(program, objects, "simulate")["pods"]:
        cell, _, rest = pod["name"].partition("-")
        if rest.startswith("m"):
            by_cell.setdefault(cell, []).append(pod)
    return by_cell


def note_kind(cell, answer, pods, tally):
    """That what is rare was there."""
    kinds = [(bool(cell.placed), "with some placed before"),
             (bool(cell.in_all), "with much wanted in all"),
             (answer == "placed" and any(not pod["node"] for pod in pods), "with some left over"),
             (answer == "impossible" and TOO_LITTLE_IN_ALL.search(pods[0]["scheduled"]["message"]),
              "for too little in all")]
    for there, kind in kinds:
        if there:
            what = f"{answer} {kind}"
            tally[what] = tally.get(what, 0) + 1


def check_batch(program, seed, count, most_nodes, tally):
    rng = random.Random(seed)
    batch = [cells.make_cell(rng, f"c{i}", most_nodes) for i in range(count)]
    alone = [cells.make_demanding(rng, f"d{i}", most_nodes) for i in range(DEMANDING)]
    batch, alone = ([cell for cell in some if len(cell.members()) >= cell.needed]
                    for some in (batch, alone))
    by_cell = simulate(program, batch)
    for cell in alone:
        by_cell.update(simulate(program, [cell]))
    asked = 0
    for cell in batch + alone:
        answer, wrong = answer_of(cell, by_cell[cell.name])
        tally[answer] = tally.get(answer, 0) + 1
        note_kind(cell, answer, by_cell[cell.name], tally)
        helpful = answer == "impossible" and most_nodes <= EXACT_UP_TO and not cell.in_all
        if not wrong and helpful and asked < 3:
            wrong = check_help(program, cell, tally)
            asked += 1
        if wrong:
            print(f"seed {seed}, {cell}\n{wrong}")
            return False
        if answer == "not found" and is_small(cell):
            kind = "missed" if can_start(cell) else "not proven"
            tally[kind] = tally.get(kind, 0) + 1
    return True


def check_benchmarks(program, file, tally):
    """The clusters of which a benchmark measures how fast they are refused."""
    rows = cells.rows_with_refusals(file)
    for row in rows:
        cell = cells.of_benchmark(row)
        pods = run(program, list(cells.objects_of(cell)), "simulate")["pods"]
        members = [pod for pod in pods if pod["name"].startswith(f"{cell.name}-m")]
        answer, wrong = answer_of(cell, members)
        if not wrong and answer != "impossible":
            wrong = f"the answer is: {answer}"
        if not wrong and not members[0]["scheduled"]["message"].endswith(row["refusal"]):
            wrong = f"it does not say: {row['refusal']}"
        if not wrong and exact.can_be_placed(cell):
            wrong = "it can be placed"
        if wrong:
            print(f"{row['name']}: {wrong}")
            return False
    tally["of benchmarks"] = len(rows)
    return len(rows) > 0


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--batches", type=int, default=60)
    arguments.add_argument("--cells", type=int, default=40)
    arguments.add_argument("--workloads", type=pathlib.Path,
                           default=ROOT / "bench" / "engine" / "workloads.yaml")
    options = arguments.parse_args()
    tally = {}
    if not check_benchmarks(options.program, options.workloads, tally):
        return 1
    for batch in range(options.batches):
        # Every fourth batch is of clusters that are too large for trying everything.
        most_nodes = 60 if batch % 4 == 3 else EXACT_UP_TO if batch % 4 == 2 else 5
        seed = options.seed * 1000 + batch
        if not check_batch(options.program, seed, options.cells, most_nodes, tally):
            return 1
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.items())))
    return 1 if complain(tally) else 0


def complain(tally):
    """What is wrong with all answers together."""
    wanted = ["impossible", "placed", "helped by moreNodes", "helped by podsInTheWay",
              "impossible with some placed before", "placed with some placed before",
              "impossible for too little in all", "placed with much wanted in all",
              "placed with some left over"]
    complaints = [f"none was {what}" for what in wanted if what not in tally]
    missed = tally.get("missed", 0)
    if missed * 1000 > MOST_MISSED * (tally.get("placed", 0) + missed):
        complaints.append(f"{missed} were missed")
    for complaint in complaints:
        print(complaint)
    return len(complaints) > 0


if __name__ == "__main__":
    sys.exit(main())
