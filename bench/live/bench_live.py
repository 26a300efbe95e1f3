"""Schedulers on a real API server, one after the other: `make bench-live`.

Every run has a control plane of its own. Throughput: all pods exist before the scheduler starts;
the clock runs from its start until the last of its events can be read. Latency: pods arrive at a
steady rate; from the moment a pod's creation is sent until a watch shows it bound. Idle: all pods
are bound and nothing happens; what a scheduler uses in a minute of that.
"""

import argparse
import json
import operator
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "control_plane"))

from control_plane import ControlPlane  # noqa: E402
from pod_group_kinds import API_SERVER_FLAGS  # noqa: E402
from processes import (Cost, Watch, binder_command, cpu_of_threads, now, run_load,  # noqa: E402
                       scheduler)

ROWS = [
    {"shape": "plain", "nodes": 1000, "present": 0, "pods": 5000, "rate": 0},
    {"shape": "plain", "nodes": 5000, "present": 0, "pods": 5000, "rate": 0},
    {"shape": "spread", "nodes": 5000, "present": 5000, "pods": 5000, "rate": 0},
    {"shape": "affinity", "nodes": 5000, "present": 5000, "pods": 5000, "rate": 0},
    {"shape": "preemption", "nodes": 500, "present": 2000, "pods": 500, "rate": 0},
    {"shape": "gang-8", "nodes": 1000, "present": 0, "pods": 5000, "rate": 0},
    {"shape": "gang-50", "nodes": 1000, "present": 0, "pods": 5000, "rate": 0},
    {"shape": "gang-500", "nodes": 1000, "present": 0, "pods": 5000, "rate": 0},
    {"shape": "plain", "nodes": 1000, "present": 0, "pods": 1000, "rate": 50},
    {"shape": "plain", "nodes": 1000, "present": 0, "pods": 3000, "rate": 150},
    {"shape": "idle", "nodes": 1000, "present": 10000, "pods": 10000, "rate": 0},
]
SCHEDULERS = ["kube-scheduler", "binder", "kubenexus"]
# A binder is run with each, and the one that is fastest by its median counts.
BINDERS = [("own", 50), ("own", 200), ("go", 100)]
# Only ours also writes what has to be written for the end of others.
BINDERS_THAT_EVICT = [("own", 20), ("own", 50), ("own", 200)]
TIMEOUT = 600
SETTLED_AFTER, IDLE = 10, 60  # seconds
MEASURED = ["per_second", "p50_ms", "p90_ms", "p99_ms", "cpu_s", "cores", "peak_rss_mb",
            "api_calls_per_pod"]
# What ours is to reach: at least, or at most.
AT_LEAST, AT_MOST = {"ratio_to_binder": 0.85}, {
    "rss_ratio": 1 / 3, "p50_above_binder_ms": 2, "p99_above_binder_ms": 6}
AT_MOST_WHEN_ALL_AT_ONCE, AT_MOST_WHEN_IDLE = {"cpu_ratio": 0.1}, {"cpu_ratio": 1}


def has_gangs(row):
    return row["shape"].startswith("gang-")


def is_idle(row):
    return row["shape"] == "idle"


def plane_for(row):
    # The controllers would only collect garbage, at the cost of those who are measured.
    plane = ControlPlane("--without=kube-scheduler,kube-controller-manager",
                         *(API_SERVER_FLAGS if has_gangs(row) else ()))
    plane.__enter__()
    run_load(plane, "fill", shape="plain" if is_idle(row) else row["shape"], nodes=row["nodes"],
             present=row["present"], pods=0 if row["rate"] or is_idle(row) else row["pods"])
    time.sleep(1)
    return plane


def writes(plane):
    """Requests that change something, as the API server has counted them."""
    request = urllib.request.Request(plane.server + "/metrics",
                                     headers={"Authorization": f"Bearer {plane._token}"})
    with urllib.request.urlopen(request, context=plane._tls, timeout=30) as answer:
        text = answer.read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith("apiserver_request_total{")
               and re.search(r'verb="(POST|PUT|PATCH|DELETE)"', line))


def throughput(name, row):
    """One run with all pods there beforehand."""
    plane = plane_for(row)
    try:
        watch, before = Watch(plane, row["pods"], TIMEOUT), writes(plane)
        start = now()
        with scheduler(name, plane, has_gangs(row)) as process:
            _, events = watch.end()
            cost = Cost(process.pid)
        calls = (writes(plane) - before) / row["pods"]
    finally:
        plane.__exit__()
    return {"per_second": row["pods"] / (events - start), "cpu_s": cost.cpu_s,
            "peak_rss_mb": cost.peak_rss_mb, "api_calls_per_pod": calls}


def throughput_of_binder(row, kind, at_a_time):
    plane = plane_for(row)
    try:
        watch, before = Watch(plane, row["pods"], TIMEOUT), writes(plane)
        start = now()
        process = subprocess.Popen(binder_command(plane, kind, row, at_a_time))
        _, events = watch.end()
        if process.wait() != 0:
            raise RuntimeError("the binder failed, see above")
        calls = (writes(plane) - before) / row["pods"]
    finally:
        plane.__exit__()
    return {"per_second": row["pods"] / (events - start), "api_calls_per_pod": calls}


def latency(name, row):
    """One run with pods that arrive at a steady rate."""
    plane = plane_for(row)
    arrive = {"shape": row["shape"], "nodes": row["nodes"], "pods": row["pods"],
              "rate": row["rate"], "timeout": TIMEOUT}
    try:
        if name == "binder":
            (seen,) = run_load(plane, "arrive", bind=True, **arrive)
            return seen
        with scheduler(name, plane, has_gangs(row)) as process:
            time.sleep(5)  # until it knows the cluster
            (seen,) = run_load(plane, "arrive", **arrive)
            cost = Cost(process.pid)
        return {**seen, "cpu_s": cost.cpu_s, "peak_rss_mb": cost.peak_rss_mb}
    finally:
        plane.__exit__()


def idle(name, row):
    """One run in which nothing happens once the scheduler knows the cluster."""
    plane = plane_for(row)
    try:
        with scheduler(name, plane) as process:
            see_that_it_binds(plane)
            time.sleep(SETTLED_AFTER)
            before = cpu_of_threads(process.pid)
            time.sleep(IDLE)
            used = cpu_of_threads(process.pid) - before
            peak = Cost(process.pid).peak_rss_mb
    finally:
        plane.__exit__()
    return {"cpu_s": used, "cores": used / IDLE, "peak_rss_mb": peak}


def see_that_it_binds(plane):
    """Whoever binds knows the cluster. The pod goes again."""
    pods = "/api/v1/namespaces/default/pods"
    plane.create(pods, {"metadata": {"name": "first"}, "spec": {
        "containers": [{"name": "c", "image": "registry.example/c"}],
        "terminationGracePeriodSeconds": 0}})
    plane.wait_for(f"{pods}/first", lambda pod: pod["spec"].get("nodeName"), timeout=TIMEOUT)
    plane.request("DELETE", f"{pods}/first?gracePeriodSeconds=0")


def median(runs):
    """Of each figure, with how far the runs lie apart."""
    out = {}
    for key in MEASURED:
        values = [run[key] for run in runs if key in run]
        if values:
            out[key] = statistics.median(values)
    key = pace_of(runs[0])
    values = [run[key] for run in runs]
    if out[key]:
        out["spread_percent"] = 100 * (max(values) - min(values)) / out[key]
    return out


def pace_of(run):
    return next(key for key in ("per_second", "p50_ms", "cpu_s") if key in run)


def contenders(row, schedulers):
    """Who is run in each repetition: names, and how each is run."""
    if is_idle(row):
        return [(name, name, lambda name=name: idle(name, row)) for name in schedulers
                if name != "binder"]
    if row["rate"]:
        return [(name, name, lambda name=name: latency(name, row)) for name in schedulers]
    out = []
    for name in schedulers:
        if name != "binder":
            out.append((name, name, lambda name=name: throughput(name, row)))
            continue
        for kind, many in BINDERS_THAT_EVICT if row["shape"] == "preemption" else BINDERS:
            out.append((name, f"binder ({kind}, {many} at a time)",
                        lambda kind=kind, many=many: throughput_of_binder(row, kind, many)))
    return out


def measure(row, schedulers, repeat):
    """All schedulers in turn, as often as asked."""
    runs = {}
    for _ in range(1 if is_idle(row) else repeat):  # Nothing happens there that could differ.
        for name, title, run in contenders(row, schedulers):
            seen = run()
            runs.setdefault((name, title), []).append(seen)
            shown = {key: round(value, 4 if key == "cores" else 2)
                     for key, value in seen.items() if key in MEASURED}
            print(f"  {title:28} {shown}", flush=True)
    best, rows = {}, {}
    for (name, title), of in runs.items():
        line = {"scheduler": name, **{k: row[k] for k in ("shape", "nodes", "pods", "rate")},
                "present": row["present"], **median(of)}
        if title != name:
            line["binder"] = title
        if name not in rows or line["per_second"] > rows[name]["per_second"]:
            rows[name], best[name] = line, of
    add_ratios(rows, best)
    return list(rows.values())


def add_ratios(rows, runs):
    """Medians of how runs of one repetition compare: the machine is not the same for long."""
    def compared(how, key, other):
        return statistics.median(how(ours[key], theirs[key])
                                 for ours, theirs in zip(runs["kubenexus"], runs[other]))

    def ratio(key, other):
        return compared(operator.truediv, key, other)

    ours = rows.get("kubenexus")
    if ours is None:
        return
    if "per_second" in ours:
        for other in ("binder", "kube-scheduler"):
            if other in rows:
                ours[f"ratio_to_{other.replace('-', '_')}"] = ratio("per_second", other)
    if "p50_ms" in ours and "binder" in rows:
        for key in ("p50", "p99"):
            ours[f"{key}_above_binder_ms"] = compared(operator.sub, f"{key}_ms", "binder")
    if "kube-scheduler" in rows:
        ours["cpu_ratio"] = ratio("cpu_s", "kube-scheduler")
        ours["rss_ratio"] = ratio("peak_rss_mb", "kube-scheduler")


def missed(row):
    """What a row of ours is to reach and does not, in words."""
    upper = dict(AT_MOST)
    if not row["rate"]:
        upper.update(AT_MOST_WHEN_IDLE if is_idle(row) else AT_MOST_WHEN_ALL_AT_ONCE)
    wanted = [(key, bound, "at least", operator.lt) for key, bound in AT_LEAST.items()]
    wanted += [(key, bound, "at most", operator.gt) for key, bound in upper.items()]
    return [f"{row_name(row)}: {HEADS.get(key, key)} is {row[key]:.2f}, {how} {bound:.2f} is wanted"
            for key, bound, how, beyond in wanted if key in row and beyond(row[key], bound)]


def describe_machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text("utf-8"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))  # that may be used here
    return f"{cores} cores, {memory:.0f} GB, {cpu.group(1) if cpu else 'unknown CPU'}"


COLUMNS = [("scheduler", "{}"), ("shape", "{}"), ("nodes", "{}"), ("pods", "{}"), ("rate", "{}"),
           ("per_second", "{:.0f}"), ("p50_ms", "{:.1f}"), ("p99_ms", "{:.1f}"),
           ("cpu_s", "{:.2f}"), ("cores", "{:.4f}"), ("peak_rss_mb", "{:.0f}"),
           ("api_calls_per_pod", "{:.2f}"), ("ratio_to_binder", "{:.2f}"),
           ("ratio_to_kube_scheduler", "{:.2f}"), ("cpu_ratio", "{:.3f}"),
           ("rss_ratio", "{:.3f}"), ("p50_above_binder_ms", "{:+.1f}"),
           ("p99_above_binder_ms", "{:+.1f}"), ("spread_percent", "{:.0f}")]
HEADS = {"per_second": "pods/s", "p50_ms": "p50 ms", "p99_ms": "p99 ms", "cpu_s": "CPU s",
         "peak_rss_mb": "MB", "api_calls_per_pod": "writes/pod", "ratio_to_binder": "/binder",
         "ratio_to_kube_scheduler": "/kube", "cpu_ratio": "CPU/kube", "rss_ratio": "MB/kube",
         "p50_above_binder_ms": "p50-binder", "p99_above_binder_ms": "p99-binder",
         "spread_percent": "±%"}


def table(rows):
    cells = [[HEADS.get(key, key) for key, _ in COLUMNS]]
    cells += [[form.format(row[key]) if key in row else "" for key, form in COLUMNS]
              for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(text.ljust(width) if i < 2 else text.rjust(width)
                  for i, (text, width) in enumerate(zip(line, widths))).rstrip()
        for line in cells)


def row_name(row):
    return f"{row['shape']}/{row['nodes']}" + (f"@{row['rate']}" if row["rate"] else "")


def chosen(names):
    """The rows that were asked for; all if nobody asks."""
    wanted = names.split(",") if names else [row_name(row) for row in ROWS]
    unknown = set(wanted) - {row_name(row) for row in ROWS}
    if unknown:
        sys.exit(f"bench-live: no row {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(row_name(row) for row in ROWS)}")
    return [row for row in ROWS if row_name(row) in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench/live.json"))
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rows", help="only these, such as plain/1000,spread/5000,plain/1000@50")
    parser.add_argument("--schedulers", default=",".join(SCHEDULERS))
    arguments = parser.parse_args()
    start, machine = now(), describe_machine()
    print(f"machine: {machine}\ncommit:  {arguments.commit}")
    rows = []
    for row in chosen(arguments.rows):
        pace = (f"{row['rate']} a second" if row["rate"] else
                "all bound" if is_idle(row) else "all at once")
        print(f"\n{row_name(row)}: {row['pods']} pods, {pace}", flush=True)
        rows += measure(row, arguments.schedulers.split(","), arguments.repeat)
    seconds = now() - start
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(
        {"machine": machine, "commit": arguments.commit, "seconds": round(seconds), "rows": rows},
        indent=1) + "\n", "utf-8")
    print(f"\n{table(rows)}\n")
    print("\n".join(line for row in rows for line in missed(row))
          or "What was measured is as it is to be.")
    print(f"\n{len(rows)} rows in {seconds:.0f} s, written to {arguments.out}")


if __name__ == "__main__":
    main()
