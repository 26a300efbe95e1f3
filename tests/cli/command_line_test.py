"""kubenexus as a script meets it: exit codes, error lines, forms of output, files."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import yaml_subset
from program import PROGRAM, ROOT, environment, kubenexus

EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
WEB = ROOT / "examples" / "web-and-batch.yaml"
PACK = ROOT / "examples" / "pack.yaml"

NODE = """apiVersion: v1
kind: Node
metadata: { name: node-1 }
status: { allocatable: { cpu: "4", memory: 8Gi } }
"""
POD = """apiVersion: v1
kind: Pod
metadata: { name: pod-1 }
spec: { containers: [{ name: main, resources: { requests: { cpu: 1 } } }] }
"""
SCENARIO = """scenario: a pod is placed
why: that is what a scheduler is for
cluster:
  nodes:
    - { name: node-$i, count: 2, allocatable: { cpu: 2, memory: 4Gi } }
steps:
  - create: { pod: web-$i, count: 3, requests: { cpu: 1 } }
  - expect: { pod: web-*, placed: PLACED, within: 5s }
"""
# Goes on for a year, with something to do every second.
ENDLESS = """scenario: jobs without end
why: somebody must be able to stop it
cluster:
  nodes: [{ name: node-$i, count: 30, allocatable: { cpu: 8, memory: 8Gi } }]
steps:
  - create: { pod: job-$i, count: 1000000, every: 1s, requests: { cpu: 1 }, run_for: 1m }
  - run_for: 8000h
"""


def is_configuration(path):
    return "KubeSchedulerConfiguration" in path.read_text(encoding="utf-8")


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def assert_refused(self, done, pattern):
        """Exit code 2, nothing on standard output, one line that says what is wrong."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, rf"\A{pattern}\n\Z")

    def run_json(self, *arguments, **options):
        done = kubenexus("simulate", *arguments, "-o", "json", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


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
            (("simulate", WEB, "--threads", "0"), "--threads: 0 is out of range, allowed is 1 to 256"),
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
        for command in ("demo", "simulate", "config", "version", "help"):
            self.assertRegex(top.stdout, rf"\n  {command} ")
            helped = kubenexus("help", command)
            flagged = kubenexus(command, "--help")
            self.assertEqual((helped.returncode, flagged.returncode), (0, 0))
            self.assertEqual(helped.stdout, flagged.stdout)
            self.assertIn(f"Usage: kubenexus {command}", helped.stdout)
        self.assertEqual(kubenexus("help").stdout, top.stdout)
        self.assertEqual(kubenexus("--help").stdout, top.stdout)
        text = kubenexus("help", "simulate").stdout
        for flag in "FILE --config --until --seed -o --record --threads --log".split():
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

    def test_config_shows_the_plugins_of_every_point_with_weights(self):
        lines = kubenexus("config", PACK).stdout.splitlines()
        self.assertEqual(lines[0], "Profile default-scheduler")
        self.assertEqual(lines[1].split(), ["POINT", "PLUGIN", "WEIGHT", "NOTE"])
        score = next(line for line in lines if line.split()[:1] == ["score"])
        self.assertEqual(score.split(), ["score", "TaintToleration", "3"])
        after_score = lines[lines.index(score) :]
        self.assertFalse([line for line in after_score if "NodeResourcesBalanced" in line])


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


class Files(CommandLine):
    def test_record_is_lines_of_json(self):
        path = self.folder / "run.jsonl"
        self.run_json(WEB, "--record", path)
        lines = path.read_text(encoding="utf-8").splitlines()
        self.assertGreater(len(lines), 20)
        for line in lines:
            self.assertIn("t", json.loads(line))

    def test_record_names_the_kinds_of_other_objects(self):
        path = self.folder / "run.jsonl"
        namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n"
        budget = namespace.replace("v1", "policy/v1").replace("Namespace", "PodDisruptionBudget")
        self.run_json("-", "--record", path, stdin=NODE + namespace + budget)
        told = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        kinds = {line["kind"] for line in told if line.get("event") == "object"}
        self.assertEqual(kinds, {"Namespace", "PodDisruptionBudget"})

    def test_names_a_record_that_cannot_be_written_and_says_why(self):
        path = self.folder / "none" / "run.jsonl"
        done = kubenexus("simulate", WEB, "--record", path)
        self.assert_refused(done, f"{path}: cannot be written: No such file or directory")
        done = kubenexus("simulate", WEB, "--record", "/dev/full")
        self.assert_refused(done, "/dev/full: cannot be written: No space left on device")
        self.assert_refused(kubenexus("simulate", WEB, "--record", "-"), "--record: .*")

    def test_record_does_not_empty_an_input(self):
        path = self.write("node.yaml", NODE)
        done = kubenexus("simulate", path, "--record", path)
        self.assert_refused(done, f"--record: {path} is an input of this run")
        self.assertEqual(path.read_text(encoding="utf-8"), NODE)

    def test_record_does_not_empty_an_input_by_another_name(self):
        path = self.write("node.yaml", NODE)
        (self.folder / "soft.yaml").symlink_to(path)
        (self.folder / "hard.yaml").hardlink_to(path)
        pack = self.write("pack.yaml", PACK.read_text(encoding="utf-8"))
        (self.folder / "soft-pack.yaml").symlink_to(pack)
        scenario = self.write("s.yaml", "config_file: pack.yaml\n" + SCENARIO.replace("PLACED", "3"))
        for arguments, record, kept in (
            ((path,), "soft.yaml", path),
            ((path,), "hard.yaml", path),
            ((self.folder / "soft.yaml",), "node.yaml", path),
            ((path, "--config", pack), "soft-pack.yaml", pack),
            ((scenario,), "pack.yaml", pack),
            ((scenario,), "soft-pack.yaml", pack),
        ):
            with self.subTest((arguments, record)):
                before = kept.read_text(encoding="utf-8")
                done = kubenexus("simulate", *arguments, "--record", self.folder / record)
                self.assert_refused(done, f"--record: .*{record} is an input of this run")
                self.assertEqual(kept.read_text(encoding="utf-8"), before)

    def test_record_does_not_empty_standard_input(self):
        path = self.write("node.yaml", NODE)
        with open(path, encoding="utf-8") as stdin:
            done = subprocess.run([PROGRAM, "simulate", "-", "--record", str(path)], stdin=stdin,
                                  capture_output=True, text=True, check=False, env=environment())
        self.assert_refused(done, f"--record: {path} is an input of this run")
        self.assertEqual(path.read_text(encoding="utf-8"), NODE)

    def test_record_is_left_alone_when_the_input_is_refused(self):
        record = self.write("run.jsonl", "of yesterday\n")
        pack = self.write("pack.yaml", PACK.read_text(encoding="utf-8"))
        bad = self.write("bad.yaml", NODE.replace("cpu:", "cpu: many #"))
        twice = self.write("twice.yaml", NODE + "---\n" + NODE)
        scenario = self.write("s.yaml", "config_file: none.yaml\n" + SCENARIO.replace("PLACED", "3"))
        for arguments in ((bad,), (twice,), (scenario,), (pack,), (WEB, "--config", bad),
                          (self.write("empty.yaml", ""),)):
            with self.subTest(arguments):
                done = kubenexus("simulate", *arguments, "--record", record)
                self.assert_refused(done, ".*")
                self.assertEqual(record.read_text(encoding="utf-8"), "of yesterday\n")
                done = kubenexus("simulate", *arguments, "--record", self.folder / "new.jsonl")
                self.assert_refused(done, ".*")
                self.assertFalse((self.folder / "new.jsonl").exists())

    def test_a_record_that_cannot_be_written_does_not_wait_for_the_end_of_the_run(self):
        path = self.write("endless.yaml", ENDLESS)
        done = kubenexus("simulate", path, "--record", self.folder)
        self.assert_refused(done, f"{self.folder}: cannot be written: Is a directory")

    def test_says_when_the_result_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, "simulate", str(WEB)], stdout=full, check=False,
                                  stderr=subprocess.PIPE, text=True, env=environment())
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "<stdout>: cannot be written: No space left on device\n")


    def test_help_and_version_say_so_too(self):
        for arguments in (("--help",), ("simulate", "--help"), ("help",), ("--version",),
                          ("version",)):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, *arguments], stdout=full, check=False,
                                      stderr=subprocess.PIPE, text=True, env=environment())
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr,
                                 "<stdout>: cannot be written: No space left on device\n")

    def test_streams_that_are_closed_end_it_in_order(self):
        node = self.write("node.yaml", NODE)
        record = self.folder / "run.jsonl"
        for command, code in (
            (f"{PROGRAM} simulate {node} --record {record} >&-", 2),
            (f"{PROGRAM} simulate {node} --record {record} 2>&-", 0),
            (f"{PROGRAM} simulate {node} --record {record} <&- >&- 2>&-", 2),
            (f"{PROGRAM} simulate no/such.yaml 2>&-", 2),
            (f"{PROGRAM} simulate no/such.yaml 2>/dev/full", 2),
            (f"{PROGRAM} simulate - <&-", 2),
            (f"{PROGRAM} oracle <&-", 2),
            (f"{PROGRAM} --help >&-", 2),
            (f"{PROGRAM} nonsense 2>&-", 2),
        ):
            with self.subTest(command):
                done = subprocess.run(["sh", "-c", command], capture_output=True, text=True,
                                      check=False, env=environment())
                self.assertEqual(done.returncode, code, done.stderr)
                if "--record" in command:
                    for line in record.read_text(encoding="utf-8").splitlines():
                        json.loads(line)

    def test_says_when_memory_runs_out(self):
        large = self.folder / "large.yaml"
        with open(large, "w", encoding="utf-8") as file:
            file.write("[" + "{a: 1}, " * 4_000_000 + "]")
        request = self.folder / "large.jsonl"
        with open(request, "w", encoding="utf-8") as file:
            file.write('{"id": "' + "x" * (200 << 20) + '", "objects": [], "pods": []}\n')

        def limited(arguments, stdin=None):
            command = f"ulimit -v 400000; exec {PROGRAM} {arguments}"
            return subprocess.run(["sh", "-c", command], stdin=stdin, capture_output=True,
                                  text=True, check=False, env=environment())

        if limited("version").returncode != 0:
            self.skipTest("the program needs more memory than that anyway (a sanitizer)")
        with open(request, "rb") as stdin:
            self.assert_refused(limited("oracle", stdin), "kubenexus: not enough memory")
        self.assert_refused(limited(f"simulate {large}"), "kubenexus: not enough memory")


class Oracle(CommandLine):
    REQUEST = '{"id": "7", "objects": [], "pods": []}'

    def test_answers_every_line(self):
        done = kubenexus("oracle", stdin=f"{self.REQUEST}\n\nnothing\n{self.REQUEST}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([sorted(answer) for answer in answers],
                         [["id", "pods"], ["error", "id"], ["id", "pods"]])

    def test_answers_a_line_as_soon_as_it_is_there(self):
        with subprocess.Popen([PROGRAM, "oracle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, env=environment()) as running:
            for _ in range(2):
                running.stdin.write(self.REQUEST + "\n")
                running.stdin.flush()
                self.assertEqual(json.loads(running.stdout.readline())["id"], "7")
            running.stdin.close()
            self.assertEqual(running.wait(timeout=60), 0)

    def test_answers_a_line_that_is_too_long_and_goes_on(self):
        path = self.folder / "long.jsonl"
        with open(path, "wb") as file:
            file.seek(300 << 20)
            file.write(f"\n{self.REQUEST}\n".encode())
        with open(path, "rb") as stdin:
            done = subprocess.run([PROGRAM, "oracle"], stdin=stdin, capture_output=True, text=True,
                                  check=False, env=environment(), timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, second = map(json.loads, done.stdout.splitlines())
        self.assertRegex(first["error"], "the line is longer than \\d+ bytes")
        self.assertEqual(second["id"], "7")

    def test_says_when_its_input_cannot_be_read(self):
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        done = subprocess.run([PROGRAM, "oracle"], stdin=folder, capture_output=True, text=True,
                              check=False, env=environment())
        self.assert_refused(done, "<stdin>: cannot be read: Is a directory")


class Interrupts(CommandLine):
    def interrupted(self, number, *arguments, scenario=ENDLESS):
        path = self.write("endless.yaml", scenario)
        record = self.write("run.jsonl", "")
        command = [PROGRAM, "simulate", str(path), "--record", str(record), *arguments]
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as running:
            while record.stat().st_size == 0 and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(number)
            out, err = running.communicate(timeout=60)
        return running.returncode, out, err

    def test_ctrl_c_ends_the_run_with_the_account_so_far(self):
        code, out, err = self.interrupted(signal.SIGINT)
        self.assertEqual((code, err), (130, ""))
        self.assertIn(", until it was interrupted.\n", out)
        self.assertRegex(out, r"\nPods: [1-9]\d* created")

    def test_an_expectation_that_was_still_waited_for_is_not_one_that_was_not_met(self):
        for expected in ("{ pod: job-*, placed: 1000000, within: 8000h }",
                         "{ pod: job-*, placed: 1000000, not_before: 7000h, within: 8000h }",
                         "{ pod: no-*, placed: 0, for: 8000h }"):
            scenario = ENDLESS.replace("run_for: 8000h", f"expect: {expected}")
            with self.subTest(expected):
                code, out, err = self.interrupted(signal.SIGINT, "-o", "json", scenario=scenario)
                self.assertEqual((code, err), (130, ""))
                self.assertEqual(json.loads(out)["expectations"], [])

    def test_a_polite_kill_does_too(self):
        code, out, err = self.interrupted(signal.SIGTERM, "-o", "json")
        self.assertEqual((code, err), (143, ""))
        self.assertTrue(json.loads(out)["stopped"])


if __name__ == "__main__":
    unittest.main()
