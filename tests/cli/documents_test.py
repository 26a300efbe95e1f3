"""What the documents show is what the program prints.

README.md has the demo between two markers: everything it prints. Every
block ```console in docs/cli.md is a command (`$ kubenexus …`) and everything it prints.

After a change of the output, `documents_test.py <program> --update` writes the documents anew."""

import re
import shlex
import sys
import unittest

from program import ROOT, kubenexus

README = ROOT / "README.md"
CLI = ROOT / "docs" / "cli.md"

DEMO_BLOCK = re.compile(
    r"(<!-- demo output: begin -->\n```\n)(.*?)(```\n<!-- demo output: end -->)", re.DOTALL
)
CONSOLE_BLOCK = re.compile(r"```console\n\$ kubenexus ([^\n]*)\n(.*?)```", re.DOTALL)


def demo_output():
    return kubenexus("demo", "--once").stdout


def output_of(command):
    done = kubenexus(*shlex.split(command))
    return done.stdout + done.stderr


def update():
    text = README.read_text(encoding="utf-8")
    text = DEMO_BLOCK.sub(lambda m: m.group(1) + demo_output() + m.group(3), text)
    README.write_text(text, encoding="utf-8")
    text = CLI.read_text(encoding="utf-8")
    text = CONSOLE_BLOCK.sub(
        lambda m: f"```console\n$ kubenexus {m.group(1)}\n{output_of(m.group(1))}```", text
    )
    CLI.write_text(text, encoding="utf-8")


UPDATE = "if it is meant to be so: python3 tests/cli/documents_test.py bin/kubenexus --update"


class Documents(unittest.TestCase):
    maxDiff = None

    def test_the_readme_shows_what_the_demo_prints(self):
        block = DEMO_BLOCK.search(README.read_text(encoding="utf-8"))
        self.assertIsNotNone(block)
        self.assertEqual(block.group(2), demo_output(), UPDATE)

    def test_the_commands_of_the_manual_print_what_it_says(self):
        blocks = CONSOLE_BLOCK.findall(CLI.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(blocks), 3)
        for command, shown in blocks:
            with self.subTest(command):
                self.assertEqual(output_of(command), shown, UPDATE)

    def test_the_manual_names_every_field_of_the_result(self):
        text = CLI.read_text(encoding="utf-8")
        result = kubenexus("simulate", "examples/demo.yaml", "-o", "yaml").stdout
        for field in sorted(set(re.findall(r"^[ -]*([A-Za-z]+):", result, re.MULTILINE))):
            if field not in ("cpu", "memory", "pods"):
                self.assertIn(f"`{field}`", text)


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
