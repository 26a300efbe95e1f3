"""Scenario files of the embedded cluster, played on a real API server: `make test-live`."""

import json
import pathlib
import signal
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "control_plane"), str(ROOT / "tests" / "live")]

from control_plane import PROGRAM, ControlPlane  # noqa: E402
from live_scenario import LiveScenario, why_not  # noqa: E402
from live_test import Scheduler  # noqa: E402

# All that can be played on a server without kubelets and controllers, of these; of the others
# there are too many for the time that there is.
AREAS = ["gangs", "gang_preemption", "taints", "ports", "spread"]
AT_LEAST = 30


def read(files):
    lines = subprocess.run([PROGRAM, "json", *files], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines()
    return zip(files, map(json.loads, lines))


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(
            ControlPlane("--without=kube-scheduler,kube-controller-manager"))

    def play(self, scenario):
        config = self.plane.folder / "scenario-config.yaml"
        config.write_text(
            scenario.get("config", "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                   "kind: KubeSchedulerConfiguration\n")
            + f"clientConnection: {{kubeconfig: {self.plane.folder}/kube-scheduler.kubeconfig}}\n"
            + "leaderElection: {leaderElect: false}\n", "utf-8")
        scheduler = Scheduler(self.plane, f"--config={config}")

        def restart():
            scheduler.end(signal.SIGKILL)
            scheduler.start()

        run = LiveScenario(self.plane, scenario, restart)
        try:
            run.prepare()
            with scheduler:
                self.assertEqual(run.play(), "")
        finally:
            run.clean_up()

    def test_what_holds_in_memory_holds_on_a_real_server(self):
        files = [file for area in AREAS
                 for file in sorted((ROOT / "tests" / "scenarios" / area).glob("*.yaml"))]
        played = 0
        for file, scenario in read(files):
            if why_not(scenario):
                continue
            with self.subTest(file=str(file.relative_to(ROOT))):
                self.play(scenario)
            played += 1
        print(f"{played} of {len(files)} scenarios in {', '.join(AREAS)} played")
        self.assertGreaterEqual(played, AT_LEAST)


if __name__ == "__main__":
    unittest.main()
