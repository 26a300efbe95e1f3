"""kubenexus between files, streams and signals: what it writes where, and how it ends."""

import json
import os
import signal
import subprocess
import time
import unittest

from command_line import NODE, PACK, SCENARIO, WEB, CommandLine
from program import PROGRAM, environment, kubenexus

MET = SCENARIO.replace("PLACED", "3")
# Goes on for a year, with something to do every second.
ENDLESS = """scenario: jobs without end
why: somebody must be able to stop it
cluster:
  nodes: [{ name: node-$i, count: 30, allocatable: { cpu: 8, memory: 8Gi } }]
steps:
  - create: { pod: job-$i, count: 1000000, every: 1s, requests: { cpu: 1 }, run_for: 1m }
  - run_for: 8000h
"""


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
        scenario = self.write("s.yaml", f"config_file: pack.yaml\n{MET}")
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
        scenario = self.write("s.yaml", f"config_file: none.yaml\n{MET}")
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
                told = [(e["met"], e["reached"]) for e in json.loads(out)["expectations"]]
                self.assertEqual(told, [(False, False)])

    def test_a_polite_kill_does_too(self):
        code, out, err = self.interrupted(signal.SIGTERM, "-o", "json")
        self.assertEqual((code, err), (143, ""))
        self.assertTrue(json.loads(out)["stopped"])


if __name__ == "__main__":
    unittest.main()
