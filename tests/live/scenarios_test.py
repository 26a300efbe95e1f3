"""Scenario files of the embedded cluster, played on a real API server: `make test-live`."""

import concurrent.futures
import json
import pathlib
import queue
import signal
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "control_plane"), str(ROOT / "tests" / "live")]

from control_plane import PROGRAM, ControlPlane  # noqa: E402
import pod_group_kinds as kinds  # noqa: E402
import accounts  # noqa: E402
from live_scenario import LiveScenario, in_variant, why_not  # noqa: E402
from live_test import Scheduler  # noqa: E402

# All that can be played on a server without kubelets and controllers, of these, and at least so
# many of each; of the others there are too many for the time that there is.
AREAS = {"gangs": 34, "gang_preemption": 26, "backfill": 6, "reservations": 7, "taints": 3,
         "ports": 4, "spread": 16}
AT_A_TIME = 3  # each on a server of its own: most of the time they wait


def read(files):
    lines = subprocess.run([PROGRAM, "json", *files], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines()
    return zip(files, map(json.loads, lines))


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.planes = queue.SimpleQueue()
        for _ in range(AT_A_TIME):
            plane = cls.enterClassContext(
                ControlPlane("--without=kube-scheduler,kube-controller-manager"))
            kinds.define_reservations(plane)
            cls.planes.put(plane)

    def play(self, scenario):
        """On a server that nobody else uses meanwhile."""
        plane = self.planes.get()
        try:
            self.play_on(plane, scenario)
        finally:
            self.planes.put(plane)

    def play_on(self, plane, scenario):
        config = plane.folder / "scenario-config.yaml"
        config.write_text(
            scenario.get("config", "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                   "kind: KubeSchedulerConfiguration\n")
            + f"clientConnection: {{kubeconfig: {accounts.kubeconfig(plane)}}}\n"
            + "leaderElection: {leaderElect: false}\n", "utf-8")
        scheduler = Scheduler(plane, f"--config={config}")

        def restart():
            scheduler.end(signal.SIGKILL)
            scheduler.start()

        run = LiveScenario(plane, scenario, restart)
        try:
            run.prepare()
            with scheduler:
                self.assertEqual(run.play(), "")
        finally:
            run.clean_up()

    def test_what_holds_in_memory_holds_on_a_real_server(self):
        files = [file for area in AREAS
                 for file in sorted((ROOT / "tests" / "scenarios" / area).glob("*.yaml"))]
        played, begin = dict.fromkeys(AREAS, 0), time.monotonic()
        each = ((file, in_variant(scenario)) for file, scenario in read(files))
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            playing = [(file, pool.submit(self.play, scenario)) for file, scenario in each
                       if not why_not(scenario)]
            for file, play in playing:
                with self.subTest(file=str(file.relative_to(ROOT))):
                    play.result()
                played[file.parent.name] += 1
        print(f"{len(playing)} of {len(files)} scenarios in {', '.join(AREAS)} played "
              f"in {time.monotonic() - begin:.0f} s")
        for area, least in AREAS.items():
            self.assertGreaterEqual(played[area], least, area)


if __name__ == "__main__":
    unittest.main()
