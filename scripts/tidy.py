#!/usr/bin/env python3
"""clang-tidy over the sources (not the tests), with the flags of build/lint. A file that passed
is not looked at again until it, a header of ours that it includes, its flags or .clang-tidy change:
a full run takes minutes, the usual one seconds."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "lint"
PASSED = ROOT / "build" / "tidy"
CLANG_TIDY = "clang-tidy-19"


def is_checked(path):
    return re.search(r"^(?:src|bench)/.*(?<!_test)(?<!_fuzz)\.cc$", path.as_posix())


def included_files(path, seen):
    """The file and everything of ours that it includes."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    text = path.read_text(encoding="utf-8", errors="replace")
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
        for folder in (ROOT / "src", ROOT, path.parent):
            included_files(folder / name, seen)


def key_of(entry):
    files = set()
    included_files(pathlib.Path(entry["file"]), files)
    digest = hashlib.sha256(entry["command"].encode())
    for path in (ROOT / ".clang-tidy", *sorted(files)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run(file, key):
    """What clang-tidy has to say; nothing if it is content."""
    command = [CLANG_TIDY, "--quiet", "-p", str(BUILD), file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        (PASSED / key).touch()
        return ""
    return done.stdout or f"{file}: {CLANG_TIDY} failed ({done.returncode})\n{done.stderr}"


def findings_in(output):
    """The findings one by one, so that one in a header is printed once."""
    return [text for text in re.split(r"^(?=\S+:\d+:\d+: (?:error|warning):)", output, flags=re.M)
            if text.strip()]


def main():
    entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    entries = [entry for entry in entries
               if (path := pathlib.Path(entry["file"])).is_relative_to(ROOT)
               and is_checked(path.relative_to(ROOT))]
    PASSED.mkdir(parents=True, exist_ok=True)
    keys = {entry["file"]: key_of(entry) for entry in entries}
    due = {file: key for file, key in keys.items() if not (PASSED / key).exists()}
    print(f"{len(due)} of {len(keys)} files to look at", flush=True)
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))
    printed = set()
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        for output in pool.map(run, due.keys(), due.values()):
            for finding in findings_in(output):
                if finding not in printed:
                    printed.add(finding)
                    print(finding.replace(f"{ROOT}/", ""), end="", flush=True)
    return 1 if printed else 0


if __name__ == "__main__":
    sys.exit(main())
