"""The program under test, and how to start it from the root of the checkout."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The first argument of a test is the program; what follows is for unittest.
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "bin" / "kubenexus")


def environment(**changes):
    """Ours without what changes how a program prints."""
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    return {**kept, "TERM": "xterm", **changes}


def kubenexus(*arguments, stdin="", cwd=ROOT):
    """Runs it to its end; standard output and standard error are pipes."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(),
        cwd=cwd,
        timeout=120,
        check=False,
    )
