"""kubenexus as a person meets it, at a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ROOT, environment

WEB = str(ROOT / "examples" / "web-and-batch.yaml")
PROGRESS = re.compile(r"\r\x1b\[K(\d+h\d\dm\d\ds  \d+ nodes  \d+ pods created  \d+ placed)")
ERASE = "\r\x1b[K"


def at_terminal(*arguments, interrupt_after=None, **changes):
    """(exit code, everything that appeared, seconds it took)."""
    ours, theirs = pty.openpty()
    begin = time.monotonic()
    with subprocess.Popen([PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                          env=environment(**changes)) as running:
        os.close(theirs)
        seen = b""
        while True:
            late = interrupt_after is not None and time.monotonic() - begin > interrupt_after
            if late:
                running.send_signal(signal.SIGINT)
                interrupt_after = None
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # how Linux says that nobody has the other end open any more
                break
            if not chunk:
                break
            seen += chunk
    os.close(ours)
    text = seen.decode("utf-8").replace("\r\n", "\n")
    return running.returncode, text, time.monotonic() - begin


class Terminal(unittest.TestCase):
    def test_colours_only_for_who_wants_them(self):
        code, text, _ = at_terminal("simulate", WEB)
        self.assertEqual(code, 0)
        self.assertIn("\x1b[1mNodes: 3\x1b[0m", text)
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            _, text, _ = at_terminal("simulate", WEB, **changes)
            self.assertIn("Nodes: 3\n", text)
            self.assertNotIn("\x1b[1m", text)

    def test_the_demo_shows_how_it_stands_without_haste_and_without_flicker(self):
        code, text, seconds = at_terminal("demo")
        self.assertEqual(code, 0)
        updates = PROGRESS.findall(text)
        self.assertGreater(len(updates), 20)
        self.assertLessEqual(len(updates), 10 * seconds + 2)
        self.assertLess(seconds, 30)
        self.assertIn(ERASE + "\x1b[1mScenario: ", text)  # the line is gone before the account

    def test_the_demo_waits_for_nobody_with_once(self):
        code, text, seconds = at_terminal("demo", "--once")
        self.assertEqual(code, 0)
        self.assertIn("Nodes: 40", text)
        self.assertLess(seconds, 8)

    def test_ctrl_c_ends_the_demo_with_the_account_so_far(self):
        code, text, seconds = at_terminal("demo", interrupt_after=2)
        self.assertEqual(code, 130)
        self.assertIn("until it was interrupted.", text)
        self.assertLess(seconds, 9)


if __name__ == "__main__":
    unittest.main()
