"""What the tests of the command line have in common: small inputs, and how a refusal looks."""

import json
import pathlib
import tempfile
import unittest

from program import ROOT, kubenexus

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
