"""What runs in a live benchmark: schedulers and the program that loads them, and what they cost."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOAD = ROOT / "bin" / "live-load"
GO_BINDER = ROOT / "bin" / "knx-binder"
TICKS = os.sysconf("SC_CLK_TCK")


def run_load(plane, what, **options):
    """Runs live-load to its end; the objects it printed."""
    done = subprocess.run(load_command(plane, what, **options), stdout=subprocess.PIPE, text=True,
                          check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def load_command(plane, what, kubeconfig="kubeconfig", **options):
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()
             if value is not None and not isinstance(value, bool)]
    flags += [f"--{name}" for name, value in options.items() if value is True]
    return [LOAD, what, f"--kubeconfig={plane.folder}/{kubeconfig}", *flags]


class Watch:
    """Sees when all pods are bound and their events can be read."""

    def __init__(self, plane, pods, timeout):
        self._process = subprocess.Popen(
            load_command(plane, "watch", pods=pods, timeout=timeout),
            stdout=subprocess.PIPE, text=True)
        if not self._process.stdout.readline():
            raise RuntimeError("live-load does not watch, see above")

    def end(self):
        """Times on the monotonic clock: the last binding, the last event."""
        line = self._process.stdout.readline()
        if self._process.wait() != 0 or not line:
            raise RuntimeError("the run did not come to its end, see above")
        seen = json.loads(line)
        return seen["bound"], seen["events"]


class Cost:
    """What a process has used so far."""

    def __init__(self, pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        self.cpu_s = (int(fields[11]) + int(fields[12])) / TICKS
        status = pathlib.Path(f"/proc/{pid}/status").read_text("utf-8")
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        self.peak_rss_mb = int(peak.split()[1]) / 1024


def cpu_of_threads(pid):
    """Seconds, of the threads that it has now: exact where a tick of the clock is much."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text("ascii").split()[0]) for task in tasks) / 1e9


# Of all who are compared: what an API server asks of whom, and how many requests it takes at
# a time, depends on who it is. An administrator is asked nothing.
WHO_BINDS = "kube-scheduler.kubeconfig"
GANG_PROFILE = ("profiles: [{schedulerName: default-scheduler,"
                " plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}}]\n")
GANG_GATES = "--feature-gates=GenericWorkload=true,GangScheduling=true"


def scheduler_command(name, plane, gangs):
    config = plane.folder / "bench-scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "leaderElection: {leaderElect: false}\n"
        f"clientConnection: {{kubeconfig: {plane.folder}/{WHO_BINDS},"
        " qps: 5000, burst: 5000}\n" + (GANG_PROFILE if gangs and name == "kubenexus" else ""),
        "utf-8")
    if name == "kube-scheduler":
        return [ROOT / "bin" / "knx-control-plane", "kube-scheduler", f"--config={config}",
                "--secure-port=0", *([GANG_GATES] if gangs else [])]
    return [ROOT / "bin" / "kubenexus-scheduler", f"--config={config}", "--secure-port=0"]


@contextlib.contextmanager
def scheduler(name, plane, gangs=False):
    """The process of a scheduler, ended afterwards; its log is shown if something fails."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(scheduler_command(name, plane, gangs), stderr=log, stdout=log,
                                   cwd=plane.folder)
        try:
            yield process
        except BaseException:
            log.seek(0)
            print(log.read()[-4000:])
            raise
        finally:
            process.kill()
            process.wait()


def binder_command(plane, kind, row, at_a_time):
    if kind == "go":
        return [GO_BINDER, f"-kubeconfig={plane.folder}/{WHO_BINDS}", f"-pods={row['pods']}",
                f"-nodes={row['nodes']}", f"-at-a-time={at_a_time}"]
    return load_command(plane, "bind", kubeconfig=WHO_BINDS, shape=row["shape"], pods=row["pods"],
                        nodes=row["nodes"], at_a_time=at_a_time)


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)
