"""Counts the instructions of the guarded paths and compares them with the baseline.

A path that needs more than 5 % more than its baseline fails. Whoever makes a path more expensive on
purpose moves the baseline in the same change and says why:

    tests/guard/check_instructions.py PROGRAM --update PATH --reason "why it is worth it"
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BASELINE = HERE / "baseline.json"
ALLOWED_PERCENT = 5.0
SKIPPED = 77  # ctest shows this as skipped

# Counts must not depend on which instructions the machine has.
PINNED = {
    "SIMDJSON_FORCE_IMPLEMENTATION": "westmere",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-ERMS,-FSRM",
}


def compiler():
    """The compiler the counts hold for: another one makes other instructions."""
    return subprocess.run(
        ["g++", "-dumpfullversion"], capture_output=True, text=True, check=True
    ).stdout.strip()


def count(program):
    """Instructions by path, from one run under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=callgrind", "--collect-atstart=no", "--combine-dumps=no",
            f"--callgrind-out-file={folder}/out", str(program), str(HERE),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **PINNED}, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
        counts = {}
        for dump in sorted(pathlib.Path(folder).iterdir()):
            text = dump.read_text(errors="replace")
            path = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.M)
            totals = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
            if path and totals:
                counts[path.group(1)] = int(totals.group(1))
        return counts


def compare(baseline, counts):
    """Lines for people, and whether everything is within what is allowed."""
    lines, good = [], True
    for path in sorted(set(baseline) | set(counts)):
        if path not in counts:
            lines.append(f"{path:28} is in the baseline, but was not run")
            good = False
            continue
        if path not in baseline:
            lines.append(f"{path:28} {counts[path]:>12} has no baseline")
            good = False
            continue
        before, reason = baseline[path]["instructions"], baseline[path]["reason"]
        percent = 100.0 * (counts[path] - before) / before
        verdict = "ok"
        if percent > ALLOWED_PERCENT:
            verdict, good = f"MORE THAN {ALLOWED_PERCENT:.0f} % MORE", False
        elif percent < -ALLOWED_PERCENT:
            verdict = "ok; move the baseline down to keep what was won"
        if not reason.strip():
            verdict, good = "the baseline gives no reason", False
        lines.append(
            f"{path:28} {counts[path]:>12} baseline {before:>12} {percent:+7.2f} %  {verdict}"
        )
    return lines, good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--update", action="append", metavar="PATH", help="a path, or 'all'")
    parser.add_argument("--reason", help="why the baseline moves")
    arguments = parser.parse_args()
    stored = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"paths": {}}
    if not arguments.update and stored.get("compiler") != compiler():
        print(f"the baseline is for g++ {stored.get('compiler')}, not {compiler()}: not compared")
        return SKIPPED
    counts = count(arguments.program)
    if arguments.update:
        if not arguments.reason:
            parser.error("--update needs --reason")
        for path, instructions in counts.items():
            if path in arguments.update or "all" in arguments.update:
                stored["paths"][path] = {"instructions": instructions, "reason": arguments.reason}
        stored["compiler"] = compiler()
        stored["paths"] = dict(sorted(stored["paths"].items()))
        BASELINE.write_text(json.dumps(stored, indent=2) + "\n")
    lines, good = compare(stored["paths"], counts)
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
