"""Hundreds of status updates a second on a real API server: pods are bound as ever."""

import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests/control_plane", "bench/live"):
    sys.path.insert(0, str(ROOT / folder))

from control_plane import ControlPlane  # noqa: E402
from live_test import PODS, Scheduler, pod  # noqa: E402
from processes import Cost, load_command, run_load  # noqa: E402

WITHOUT_OTHERS = "--without=kube-scheduler,kube-controller-manager"
NODES, PRESENT = 100, 1000
SECONDS, RATE = 18, 300
A_SECOND_MS = 1000


def resident_mb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text("utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


class Storm(unittest.TestCase):
    def setUp(self):
        self._stack = contextlib.ExitStack()
        self.addCleanup(self._stack.close)

    def sample(self, process, goes_on):
        """What it has in memory, again and again."""
        seen = [resident_mb(process)]
        while goes_on():
            time.sleep(0.1)
            seen.append(resident_mb(process))
        return seen

    def sample_for(self, process, seconds):
        end = time.monotonic() + seconds
        return self.sample(process, lambda: time.monotonic() < end)

    def idle_share(self, process, seconds=2):
        before = Cost(process.pid).cpu_s
        time.sleep(seconds)
        return (Cost(process.pid).cpu_s - before) / seconds

    def test_a_pod_every_second_is_bound_within_a_second(self):
        plane = self._stack.enter_context(ControlPlane(WITHOUT_OTHERS))
        run_load(plane, "fill", nodes=NODES, present=PRESENT)
        ours = self._stack.enter_context(Scheduler(plane)).process
        plane.create(PODS, pod("first"))
        plane.wait_for(f"{PODS}/first", lambda p: p["spec"].get("nodeName"))
        steady = statistics.median(self.sample_for(ours, 2))

        storm = subprocess.Popen(
            load_command(plane, "storm", nodes=NODES, present=PRESENT, pods=SECONDS, rate=RATE,
                         timeout=SECONDS + 60),
            stdout=subprocess.PIPE, text=True)
        self._stack.callback(storm.wait)
        self._stack.callback(storm.kill)
        during = self.sample(ours, lambda: storm.poll() is None)
        said = storm.stdout.read()
        storm.stdout.close()
        self.assertEqual(storm.returncode, 0)
        seen = json.loads(said)
        afterwards = self.sample_for(ours, 2)
        idle = self.idle_share(ours)
        print(f"{seen['updates_per_s']:.0f} updates a second; the slowest of {SECONDS} canaries "
              f"was bound {seen['slowest_ms']:.0f} ms after it was sent and "
              f"{seen['slowest_since_created_ms']:.0f} ms after it was there; memory "
              f"{steady:.1f} MiB before, {max(during):.1f} at most, {afterwards[-1]:.1f} after; "
              f"then {100 * idle:.1f} % of a processor", file=sys.stderr)
        self.assertGreaterEqual(seen["updates_per_s"], 0.9 * RATE, "the storm was none")
        # How long the server takes to store a pod is no matter of the scheduler's.
        self.assertLess(seen["slowest_since_created_ms"], A_SECOND_MS)
        self.assertLess(max(during), 2 * steady)
        self.assertLess(afterwards[-1], 1.2 * steady)
        self.assertLess(idle, 0.05)


if __name__ == "__main__":
    unittest.main(verbosity=2)
