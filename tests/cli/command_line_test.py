"""kubenexus as a script meets it: exit codes, error lines, forms of output."""

import json
import re
import unittest

import yaml_subset
from command_line import NODE, PACK, POD, SCENARIO, WEB, CommandLine
from program import ROOT, kubenexus

EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


def is_configuration(path):
    text = path.read_text(encoding="utf-8")
    return "KubeSchedulerConfiguration" in text and "scenario:" not in text


class Inputs(CommandLine):
    def test_every_example_runs(self):
        self.assertGreaterEqual(len(EXAMPLES), 3)
        for path in EXAMPLES:
            with self.subTest(path.name):
                command = "config" if is_configuration(path) else "simulate"
                done = kubenexus(command, path)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertNotEqual(done.stdout, "")

    def test_reads_standard_input_and_several_files(self):
        node = self.write("node.yaml", NODE)
        result = self.run_json(node, "-", stdin=POD)
        self.assertEqual([pod["node"] for pod in result["pods"]], ["node-1"])

    def test_reads_standard_input_only_once(self):
        self.assert_refused(kubenexus("simulate", "-", "-"), "-: standard input .* once")

    def test_names_a_file_that_cannot_be_read_and_says_why(self):
        done = kubenexus("simulate", "no/such.yaml")
        self.assert_refused(done, r"no/such\.yaml: cannot be read: No such file or directory")
        done = kubenexus("simulate", self.folder)
        self.assert_refused(done, f"{self.folder}: cannot be read: Is a directory")
        done = kubenexus("simulate", WEB, "--config", "no/config.yaml")
        self.assert_refused(done, r"no/config\.yaml: cannot be read: No such file or directory")
        done = kubenexus("config", "no/config.yaml")
        self.assert_refused(done, r"no/config\.yaml: cannot be read: No such file or directory")

    def test_refuses_a_file_with_nothing_in_it(self):
        for text in ("", "\n", "# only a comment\n", "---\n---\n"):
            with self.subTest(text):
                path = self.write("empty.yaml", text)
                self.assert_refused(kubenexus("simulate", path), f"{path}: neither a node nor .*")
        path = self.write("empty.yaml", "")
        self.assert_refused(kubenexus("config", path), f"{path}.*")

    def test_says_file_line_column_field_and_reason(self):
        path = self.write("bad.yaml", NODE + "---\n" + POD.replace("cpu: 1", "cpu: many"))
        done = kubenexus("simulate", path)
        self.assert_refused(done, rf"{path}:9:\d+: .*requests\.?\[?\"?cpu.*: .*many.*")
        done = kubenexus("simulate", "-", stdin="scenario: a\nwhy: b\nsteps:\n  - fly: up\n")
        self.assert_refused(done, r"<stdin>:4:5: steps\[0\]\.fly: unknown field; .* create, .*")
        done = kubenexus("simulate", "-", stdin="kind: [unclosed\n")
        self.assert_refused(done, r"<stdin>:\d+:\d+: .*")

    def test_says_where_a_configuration_is_wrong(self):
        text = PACK.read_text(encoding="utf-8").replace("MostAllocated", "AllOfThem")
        path = self.write("bad.yaml", text)
        line = text[: text.index("AllOfThem")].count("\n") + 1
        pattern = rf"{path}:{line}:\d+: .*scoringStrategy\.type: .*AllOfThem.*MostAllocated.*"
        self.assert_refused(kubenexus("config", path), pattern)
        self.assert_refused(kubenexus("simulate", WEB, "--config", path), pattern)

    def test_a_scenario_finds_its_configuration_beside_it(self):
        (self.folder / "inner").mkdir()
        self.write("inner/pack.yaml", PACK.read_text(encoding="utf-8"))
        text = "config_file: pack.yaml\n" + SCENARIO.replace("PLACED", "3")
        path = self.write("inner/scenario.yaml", text)
        self.assertEqual(kubenexus("simulate", path).returncode, 0)
        path = self.write("scenario.yaml", text)
        self.assert_refused(kubenexus("simulate", path), ".*pack.yaml: cannot be read: .*")

    def test_says_that_a_text_is_nested_too_deeply(self):
        for text in ("[" * 10000, "- " * 5000, "{a: " * 1000):
            done = kubenexus("simulate", "-", stdin=text)
            self.assert_refused(done, r"<stdin>:1:\d+: nested too deeply: at most 100 levels .*")

    def test_leaves_out_kinds_that_are_not_simulated_and_says_so_once(self):
        def manifest(version, kind):
            return f"---\napiVersion: {version}\nkind: {kind}\nmetadata: {{ name: a }}\n"

        path = self.write("all.yaml", NODE + manifest("apps/v1", "DaemonSet")
                          + manifest("v1", "ConfigMap") * 3 + manifest("example.com/v1", "Thing"))
        warnings = self.run_json(path)["warnings"]
        self.assertEqual(warnings[:3], [
            f"{path}:6: DaemonSet (apps/v1) is not simulated, so it is left out",
            f"{path}:10: ConfigMap (v1) is not simulated, so all 3 of them are left out",
            f"{path}:22: Thing (example.com/v1) is not simulated, so it is left out",
        ])
        path = self.write("typo.yaml", NODE + manifest("apps/v1", "Deploymnet"))
        self.assert_refused(kubenexus("simulate", path), f'{path}:7:7: kind: "Deploymnet" of .*')

    def test_pods_from_a_cluster_are_as_they_were_there(self):
        def pod(name, meta="", spec="", status=""):
            return f"""- apiVersion: v1
  kind: Pod
  metadata: {{ name: {name}, uid: u-{name}, {meta} }}
  spec: {{ containers: [{{ name: c }}], {spec} }}
  status: {{ {status} }}
"""
        node = "".join("  " + line + "\n" for line in NODE.splitlines())
        text = "apiVersion: v1\nkind: List\nitems:\n-" + node[1:] + "".join((
            pod("leaving", 'deletionTimestamp: "2026-01-01T00:00:00Z"', "nodeName: node-1",
                "phase: Running"),
            pod("held", 'deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [a.b/c]'),
            pod("failed", status="phase: Failed"),
            pod("done", status="phase: Succeeded"),
            pod("high", spec="priorityClassName: high, priority: 1000"),
            pod("other", spec="priorityClassName: mine, priority: 7"),
            pod("system", spec="priorityClassName: system-node-critical, priority: 2000001000"),
        )) + """- apiVersion: scheduling.k8s.io/v1
  kind: PriorityClass
  metadata: { name: mine }
  value: 5
- apiVersion: scheduling.k8s.io/v1
  kind: PriorityClass
  metadata: { name: system-node-critical }
  value: 2000001000
- apiVersion: v1
  kind: Pod
  metadata: { name: new }
  spec: { containers: [{ name: c }], priorityClassName: mine }
"""
        pods = {pod["name"]: pod for pod in self.run_json("-", stdin=text)["pods"]}
        self.assertNotIn("leaving", pods)
        self.assertEqual({name: (pod["phase"], pod["node"], pod["priority"], pod["terminating"])
                          for name, pod in pods.items()}, {
            "held": ("Pending", "", 0, True),
            "failed": ("Failed", "", 0, False),
            "done": ("Succeeded", "", 0, False),
            "high": ("Running", "node-1", 1000, False),
            "other": ("Running", "node-1", 7, False),
            "system": ("Running", "node-1", 2000001000, False),
            "new": ("Running", "node-1", 5, False),
        })

    def test_no_bytes_make_it_fall(self):
        for data in ("\x00", "\ufeff", "{" * 10000, "[" * 10000, "&a [*a]", "- " * 5000):
            with self.subTest(data[:10]):
                self.assertIn(kubenexus("simulate", "-", stdin=data).returncode, (0, 2))
                self.assertEqual(kubenexus("config", "-", stdin=data).returncode, 2)


class Flags(CommandLine):
    def test_refuses_what_it_does_not_know(self):
        for arguments, pattern in (
            (("simulate", "--foo"), ".*--foo.*"),
            (("simulate", WEB, "--foo", "bar"), ".*--foo.*"),
            (("simulate",), "kubenexus simulate: FILE is missing .*"),
            (("explain",), "kubenexus explain: NAME and FILE are missing .*"),
            (("explain", "train"), "kubenexus explain: FILE is missing .*"),
            (("explain", "none", WEB), "none: there is no pod group and no pod of that name; .*"),
            (("config",), "kubenexus config: FILE is missing .*"),
            (("fly",), ".*fly.*"),
            (("help", "fly"), ".*there is no command fly"),
            (("demo", "now"), ".*now.*"),
            (("simulate", WEB, "-o", "xml"), '-o: "xml" is not known, allowed are table, .*'),
            (("simulate", WEB, "--seed", "-1"), "--seed: -1 is out of range, allowed is 0 to .*"),
            (("simulate", WEB, "--seed", "x"), '--seed: "x" is not a whole number'),
            (("simulate", WEB, "--seed", "1x"), '--seed: "1x" is not a whole number'),
            (("simulate", WEB, "--seed", ""), '--seed: "" is not a whole number'),
            (("simulate", WEB, "--seed", str(2**64)), "--seed: .* is out of range.*"),
            (("simulate", WEB, "--until", "soon"), "--until: .*soon.*"),
            (("simulate", WEB, "--until=-1s"), "--until: -1s is out of range.*"),
            (("simulate", WEB, "--threads", "0"), "--threads: 0 is out of range, .* 1 to 256"),
            (("simulate", WEB, "--threads", "many"), '--threads: "many" is not a whole number'),
            (("simulate", WEB, "--config"), ".*--config.*"),
            (("simulate", WEB, "--config", ""), '"": cannot be read: No such file or directory'),
            (("simulate", WEB, "--record", ""), '"": cannot be written: No such file or directory'),
        ):
            with self.subTest(arguments):
                self.assert_refused(kubenexus(*arguments), pattern)

    def test_explains_every_command_and_flag(self):
        top = kubenexus()
        self.assertEqual((top.returncode, top.stderr), (0, ""))
        for command in ("demo", "simulate", "explain", "config", "version", "help"):
            self.assertRegex(top.stdout, rf"\n  {command} ")
            helped = kubenexus("help", command)
            flagged = kubenexus(command, "--help")
            self.assertEqual((helped.returncode, flagged.returncode), (0, 0))
            self.assertEqual(helped.stdout, flagged.stdout)
            self.assertIn(f"Usage: kubenexus {command}", helped.stdout)
        self.assertEqual(kubenexus("help").stdout, top.stdout)
        self.assertEqual(kubenexus("--help").stdout, top.stdout)
        text = kubenexus("help", "simulate").stdout
        for flag in "FILE --config --until --seed --variant -o --record --threads --log".split():
            self.assertIn(flag, text)
        self.assertIn("Examples:\n", text)
        for code in "0 1 2 130 143".split():
            self.assertRegex(text, rf"\b{code} ")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_says_its_version(self):
        done = kubenexus("version")
        self.assertRegex(done.stdout, r"\Akubenexus \d+\.\d+\.\d+\n\Z")
        self.assertEqual(kubenexus("--version").stdout, done.stdout)

    def test_until_ends_the_run(self):
        self.assertEqual(self.run_json(WEB, "--until", "90s")["ended"], 90)

    def test_the_same_input_decides_the_same_with_any_number_of_threads(self):
        for path in (WEB, ROOT / "examples" / "demo.yaml"):
            hashes = set()
            for threads in ("1", "1", "4"):
                log = self.run_json(path, "--threads", threads)["decisionLog"]
                self.assertRegex(log["hash"], r"\A[0-9a-f]{16}\Z")
                self.assertGreater(log["lines"], 10)
                hashes.add(log["hash"])
            self.assertEqual(len(hashes), 1)


class Outcomes(CommandLine):
    def test_the_exit_code_says_whether_expectations_were_met(self):
        met = kubenexus("simulate", "-", stdin=SCENARIO.replace("PLACED", "3"))
        self.assertEqual((met.returncode, met.stderr), (0, ""))
        self.assertIn("Expectations: 1 of 1 met\n", met.stdout)
        unmet = kubenexus("simulate", "-", stdin=SCENARIO.replace("PLACED", "4"))
        self.assertEqual((unmet.returncode, unmet.stderr), (1, ""))
        self.assertIn("Expectations: 0 of 1 met\n  <stdin>:8:5: not met\n", unmet.stdout)

    def test_the_table_lines_up(self):
        lines = kubenexus("simulate", WEB).stdout.splitlines()
        head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["NAME", "PODS"])
        self.assertEqual(lines[head].split(), ["NAME", "PODS", "CORES", "MEMORY", "STATE"])
        state = lines[head].index("STATE")
        for line in lines[head + 1 : head + 4]:
            self.assertEqual(line[state:], "ready")
            self.assertEqual(line[state - 1], " ")
        self.assertFalse([line for line in lines if line != line.rstrip()])

    def test_the_table_tells_what_waits_and_why(self):
        text = kubenexus("simulate", WEB).stdout
        self.assertRegex(text, r"1 pod too-big, for \S+; wants 6 cores, 1 GiB\n"
                               r"      0/3 nodes are available: 3 Insufficient cpu\.")

    def test_says_of_a_pod_that_nobody_tries_why(self):
        why = "not tried: no profile of this scheduler is named other"
        pod = POD.replace("spec: {", "spec: { schedulerName: other,")
        text = kubenexus("simulate", "-", stdin=NODE + "---\n" + pod).stdout
        self.assertRegex(text, rf"\n  1 pod pod-1, for \S+; wants 1 core\n      {why}\n")
        result = self.run_json("-", stdin=NODE + "---\n" + pod)
        self.assertEqual(result["pods"][0]["whyWaiting"], why)
        self.assertEqual(result["profiles"], ["default-scheduler", "kubenexus-scheduler"])
        config = self.write("config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\n"
                            "kind: KubeSchedulerConfiguration\n"
                            "profiles: [{ schedulerName: batch }]\n")
        result = self.run_json("-", "--config", config, stdin=NODE + "---\n" + POD)
        self.assertEqual(result["pods"][0]["whyWaiting"], why.replace("other", "default-scheduler"))

    def test_json_says_everything(self):
        result = self.run_json(WEB)
        self.assertEqual(result["kind"], "SimulationResult")
        self.assertTrue(result["ok"] and result["settled"] and not result["stopped"])
        self.assertEqual([node["name"] for node in result["nodes"]], ["node-1", "node-2", "node-3"])
        self.assertEqual(result["nodes"][0]["resources"]["cpu"], {"requested": 1, "allocatable": 4})
        waiting = [pod for pod in result["pods"] if not pod["node"]]
        self.assertEqual([pod["name"] for pod in waiting], ["too-big"])
        self.assertEqual(waiting[0]["scheduled"]["reason"], "Unschedulable")
        self.assertIsNone(waiting[0]["placed"])
        self.assertEqual(waiting[0]["whyWaiting"], waiting[0]["scheduled"]["message"])
        self.assertEqual({pod["whyWaiting"] for pod in result["pods"] if pod["node"]}, {""})
        self.assertEqual(len(result["pods"]), result["counts"]["podsCreated"])
        self.assertEqual(result["decisionLog"]["entries"], [])

    def test_yaml_says_the_same_as_json(self):
        done = kubenexus("simulate", WEB, "-o", "yaml", "--log")
        self.assertEqual(yaml_subset.load(done.stdout), self.run_json(WEB, "--log"))

    def test_log_prints_every_decision(self):
        entries = self.run_json(WEB, "--log")["decisionLog"]["entries"]
        self.assertTrue(any(" bind default/web-" in line for line in entries))
        lines = kubenexus("simulate", WEB, "--log").stdout.splitlines()
        self.assertEqual(lines[: len(entries)], entries)

    def test_no_colours_and_no_progress_without_a_terminal(self):
        for arguments in (("simulate", WEB), ("demo",), ("config", PACK)):
            done = kubenexus(*arguments)
            self.assertEqual(done.stderr, "")
            self.assertNotIn("\x1b", done.stdout)

    def test_shows_what_events_warn_of_without_the_log(self):
        half = ROOT / "tests" / "scenarios" / "gangs" / "only_half_of_what_makes_a_gang.yaml"
        warnings = " ".join(kubenexus("simulate", half).stdout.partition("Warnings:")[2].split())
        self.assertIn("pod default/named: PodGroupIgnored: label pod-group.", warnings)
        self.assertNotIn("default/elsewhere", warnings)

    def test_config_shows_the_plugins_of_every_point_with_weights(self):
        lines = kubenexus("config", PACK).stdout.splitlines()
        self.assertEqual(lines[0], "Profile default-scheduler")
        self.assertEqual(lines[1].split(), ["POINT", "PLUGIN", "WEIGHT", "NOTE"])
        score = next(line for line in lines if line.split()[:1] == ["score"])
        self.assertEqual(score.split(), ["score", "TaintToleration", "3"])
        after_score = lines[lines.index(score) :]
        self.assertFalse([line for line in after_score if "NodeResourcesBalanced" in line])


class Explanations(CommandLine):
    REPORT = ROOT / "examples" / "pod-that-waits.yaml"
    TRAIN = ROOT / "examples" / "gang-that-waits.yaml"

    def explain(self, name, path, *flags):
        done = kubenexus("explain", name, path, *flags, "-o", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        as_yaml = kubenexus("explain", name, path, *flags, "-o", "yaml")
        said = json.loads(done.stdout)
        self.assertEqual(yaml_subset.load(as_yaml.stdout), said)
        return said

    def test_says_of_a_pod_what_would_help_it(self):
        said = self.explain("report", self.REPORT)
        self.assertEqual((said["what"], said["waits"]), ("pod default/report", True))
        self.assertIsNone(said["gang"])
        self.assertEqual((said["pod"]["moreNodes"], said["pod"]["like"]), (1, "node-1"))
        self.assertEqual(said["pod"]["podsInTheWay"], ["default/web-1"])
        self.assertEqual([node["node"] for node in said["pod"]["obstacles"]], ["gpu-1"])
        self.assertEqual(len(said["help"]), 4)

    def test_says_of_a_gang_what_would_help_it(self):
        said = self.explain("podgroup/default/train", self.TRAIN)
        self.assertEqual(said["members"]["minimum"], 10)
        self.assertEqual((said["gang"]["answer"], said["gang"]["fit"]), ("impossible", 9))
        self.assertEqual(said["gang"]["podsInTheWay"], ["default/service"])
        self.assertIsNone(said["pod"])

    def test_says_of_a_driver_what_would_help_it_and_those_that_it_makes(self):
        scenarios = ROOT / "tests" / "scenarios" / "reservations"
        said = self.explain("app", scenarios / "a_driver_says_what_is_missing.yaml")
        gang = said["gang"]
        self.assertEqual((gang["answer"], gang["fit"], gang["needed"]), ("impossible", 3, 4))
        self.assertEqual((gang["toCome"], gang["awaitsReservation"]), (3, None))
        self.assertEqual((gang["moreNodes"], gang["like"]), (1, "node-1"))
        self.assertIn("needs 4 pods at once, 3 fit", said["message"])

    def test_says_of_what_does_not_wait_where_it_is(self):
        said = self.explain("web-1", self.REPORT)
        self.assertEqual((said["waits"], said["node"]), (False, "node-1"))

    def test_warns_of_what_the_configuration_does_not_heed(self):
        gangs = ROOT / "examples" / "gangs.yaml"
        said = self.explain("large", gangs, "--until=1m")
        self.assertIn("lacks Coscheduling", " ".join(said["warnings"]))
        table = kubenexus("explain", "large", gangs, "--until=1m").stdout
        self.assertRegex(" ".join(table.split()), r"Warnings: .*lacks Coscheduling; name it")
        self.assertEqual(self.explain("report", self.REPORT)["warnings"], [])

    def test_says_what_else_there_is(self):
        done = kubenexus("explain", "reprot", self.REPORT)
        self.assert_refused(done, "reprot: .* much the same is the name of pod default/report")
        done = kubenexus("explain", "something", self.REPORT)
        self.assert_refused(done, "something: .* what waits is pod default/report")


class Demo(CommandLine):
    def test_runs_anywhere_and_says_what_to_try_next(self):
        done = kubenexus("demo", "--once", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Scenario: ", done.stdout)
        self.assertIn("Nodes: 40\n", done.stdout)
        self.assertRegex(done.stdout, r"\nWaiting: \d+ pods\n")
        head, _, tail = done.stdout.partition("\nWhat to try next")
        self.assertRegex(head, r"Expectations: (\d+) of \1 met\n")
        self.assertEqual(len(re.findall(r"^  bin/kubenexus ", tail, re.MULTILINE)), 3)

    def test_is_the_example(self):
        shown = kubenexus("demo", "--show").stdout
        self.assertEqual(shown, (ROOT / "examples" / "demo.yaml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
