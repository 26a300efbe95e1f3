#!/usr/bin/env python3
"""The house style as far as a machine can see it: which folder may include which, words that have
no place in the core, lengths, names, dead files. Run as a test; prints `file:line: [rule] what` and
fails if there is anything to print. CONTRIBUTING.md says why; check_style_test.py shows each rule
firing."""

import argparse
import ast
import dataclasses
import os
import pathlib
import posixpath
import re
import sys

import cpp_text

MAX_COLUMNS = 100
MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 500

# Which folders of src/ a folder may include besides itself (docs/design.md section 2). The column
# "may include" of src/README.md is compared with this.
_BELOW_ENGINE = ("base", "k8s", "cel", "cluster", "framework")
_BELOW_DRIVERS = (*_BELOW_ENGINE, "plugins", "engine", "observe")
_BELOW_SIM = (*_BELOW_DRIVERS, "scenario")
MAY_INCLUDE = {
    "base": (),
    "k8s": ("base",),
    "cel": ("base", "k8s"),
    "cluster": ("base", "k8s", "cel"),
    "framework": ("base", "k8s", "cel", "cluster"),
    "plugins": _BELOW_ENGINE,
    "engine": _BELOW_ENGINE,
    "observe": (*_BELOW_ENGINE, "plugins", "engine"),
    "oracle": _BELOW_DRIVERS,
    "scenario": ("base", "k8s"),
    "sim": _BELOW_SIM,
    "net": ("base",),
    "client": ("base", "k8s", "net"),
    "live": (*_BELOW_DRIVERS, "net", "client"),
    "agent": ("base", "k8s", "net", "client"),
    "webhook": ("base", "k8s", "net", "client"),
    "cmd": (*_BELOW_SIM, "net", "client", "live", "oracle", "sim", "agent",
            "webhook"),
}
CORE = (*_BELOW_ENGINE, "plugins", "engine")
MAY_USE_THE_MACHINE = ("cmd", "live", "net")

# Headers of others that may stand in a header of ours: cheap enough, or part of the system.
HEADER_MAY_NAME = ("fmt/", "absl/", "sys/", "linux/", "netinet/", "arpa/")
TEST_HEADER_MAY_NAME = ("gtest/", "gmock/", "rapidcheck")
THIRD_PARTY_WITHOUT_FOLDER = ("simdjson.h",)

SKIPPED_FOLDERS = re.compile(r"build(?:-.*)?|bin|node_modules|__pycache__|\.(?!ci$).*")
TEXT_ENDINGS = (".h", ".cc", ".py", ".sh", ".md", ".cmake", ".txt", ".yaml", ".yml", ".json")
TEXT_NAMES = ("Makefile", "run")

# Spelled in pieces, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X{3})\b")
PLACE = re.compile(
    r"(?<![\w.$})-])/(?:home|root|Users|work|workspaces?)/\w"  # a path of one machine
    r"|\.\./sha" r"red\b|\b(?:this|previous|earlier|last|next) ses" r"sion\b"
)
VAGUE_NAME = re.compile(
    r"\b(?:class|struct|enum(?:\s+class)?)\s+(\w*(?:Manager|Helper|Utils?|Impl))\s*[{:;]"
)


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    what: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.what}"


class SourceFile:
    """A file with what the rules ask about it; `folder` is the one below src/, '' elsewhere."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.name = path.rsplit("/", 1)[-1]
        parts = path.split("/")
        self.folder = parts[1] if parts[0] == "src" and len(parts) > 2 else ""
        self.is_header = path.endswith(".h")
        self.is_cpp = path.endswith((".h", ".cc"))
        self.is_test = bool(re.search(r"_(?:test|fuzz|bench)\.cc$|/testing/", path))
        self.code = cpp_text.code_only(text) if self.is_cpp else text
        self.includes = cpp_text.includes(text, self.code) if self.is_cpp else []

    def finding(self, line, rule, what):
        return Finding(self.path, line, rule, what)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def plugin_folder(path):
    """'plugins/kube/node_name' for a file of that plugin, '' for what belongs to no single one."""
    match = re.match(r"(?:src/)?(plugins/[^/]+/[^/]+)/", path)
    return match.group(1) if match else ""


def check_include_direction(file):
    if not file.folder:
        return
    if file.folder not in MAY_INCLUDE:
        yield file.finding(1, "include-direction", f"src/{file.folder} is not a known folder")
        return
    allowed = {file.folder, *MAY_INCLUDE[file.folder]}
    if file.folder == "engine" and file.is_test:
        allowed.add("plugins")
    for line, path, quoted in file.includes:
        target = path.split("/")[0]
        if not quoted:
            continue
        if "/" not in path or target not in MAY_INCLUDE:
            yield file.finding(line, "include-direction", f'"{path}" is not written from src/ on')
        elif target not in allowed:
            yield file.finding(line, "include-direction", f"{file.folder} may not include {target}")
        elif "/testing/" in path and not file.is_test:
            yield file.finding(line, "include-direction", f"only tests may include {path}")


def check_plugin_isolation(file):
    in_registry = re.match(r"src/plugins/(?:registry\.|[^/]*_test\.cc$)", file.path)
    if file.folder != "plugins" or in_registry:
        return
    for line, path, _ in file.includes:
        other = plugin_folder(path)
        if other and other != plugin_folder(file.path):
            yield file.finding(line, "plugin-isolation", f"a plugin never includes another: {path}")


def check_header(file):
    if not file.folder or not file.is_header:
        return
    if not re.search(r"^#pragma once$", file.code, re.MULTILINE):
        yield file.finding(1, "header", "#pragma once is missing")
    if not file.text.startswith("//"):
        yield file.finding(1, "header", "a header opens by saying what it is for")
    allowed = HEADER_MAY_NAME + (TEST_HEADER_MAY_NAME if "test" in file.path else ())
    for line, path, quoted in file.includes:
        foreign = "/" in path or path in THIRD_PARTY_WITHOUT_FOLDER
        if not quoted and foreign and not path.startswith(allowed):
            yield file.finding(line, "header", f"<{path}> belongs into a .cc file")


def check_own_header_first(file, paths):
    own = re.sub(r"\.cc$", ".h", file.path)
    if not file.folder or own == file.path or own not in paths:
        return
    first = file.includes[0][1] if file.includes else "nothing"
    if "src/" + first != own:
        yield file.finding(1, "own-header-first", f"includes {first} before its own header")


def _never(_):
    return False


def _outside_core(file):
    return file.folder not in CORE or file.is_test


def _may_use_the_machine(file):
    return not file.folder or file.folder in MAY_USE_THE_MACHINE or file.is_test


def _may_use_threads(file):
    # There the simulation has the engine's parallel_for, to show that threads change nothing.
    return _may_use_the_machine(file) or file.path.startswith("src/sim/thread_pool.")


def _may_print(file):
    return not file.folder or file.folder == "cmd" or file.is_test


# (pattern, what is wrong with it, where it is allowed)
BANNED = (
    (r"\bco_(?:await|yield|return)\b", "g++ 12 miscompiles coroutines", _never),
    (r"\bstd::w?regex\b|#\s*include\s*<regex>", "slow, and it throws", _never),
    (r"\bshared_ptr\b|\bmake_shared\b", "the core has one owner for everything", _outside_core),
    (r"\b(?:system|steady|high_resolution)_clock\b|\b(?:clock_gettime|gettimeofday)\b"
     r"|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)",
     "time is told, not asked for", _may_use_the_machine),
    (r"\bstd::(?:j?thread|async)\b|\bsleep_(?:for|until)\b",
     "threads belong to the drivers", _may_use_threads),
    (r"(?<!\w)s?rand\s*\(|\brandom_device\b", "chance comes from a seed", _may_use_the_machine),
    (r"#\s*include\s*<iostream>", "printing belongs to the programs", _may_print),
    (r"#\s*include\s*<(?:fstream|filesystem)>", "files belong to the drivers", _outside_core),
)


def check_banned_words(file):
    if not file.is_cpp:
        return
    for pattern, why, allowed in BANNED:
        if allowed(file):
            continue
        for match in re.finditer(pattern, file.code):
            word = " ".join(match.group().split())
            yield file.finding(line_of(file.code, match.start()), "banned-word", f"{word}: {why}")


def check_names(file):
    if not file.is_cpp:
        return
    if re.search(r"(?:^|_)(?:manager|helpers?|utils?|impl)(?:_|\.)", file.name):
        yield file.finding(1, "vague-name", "a file is named after the thing in it")
    for match in VAGUE_NAME.finditer(file.code):
        line = line_of(file.code, match.start())
        yield file.finding(line, "vague-name", f"{match.group(1)}: say what it is")


def check_lengths(file):
    if not file.path.endswith((".h", ".cc", ".py")):
        return
    lines = file.text.rstrip("\n").split("\n")
    if len(lines) > MAX_FILE_LINES:
        yield file.finding(MAX_FILE_LINES + 1, "file-length", f"{len(lines)} lines")
    raw = cpp_text.raw_string_lines(file.text) if file.is_cpp else ()
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_COLUMNS and number not in raw and "://" not in line:
            yield file.finding(number, "columns", f"{len(line)} columns")


def _function_spans(file):
    """None if there is no telling. In tests, the body of a test and a function FooCases() do not
    count: they are mostly table. What they call does."""
    if file.is_cpp:
        spans = cpp_text.functions(file.code)
        if spans and file.is_test:
            table = re.compile(r"TEST(?:_\w+)?$|RC_|\w*Cases$")
            spans = [span for span in spans if not table.match(span[0])]
        return spans
    try:
        tree = ast.parse(file.text)
    except SyntaxError:
        return None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [(node.name, node.lineno, node.end_lineno) for node in nodes]


def check_function_lengths(file):
    if not file.path.endswith((".h", ".cc", ".py")):
        return
    spans = _function_spans(file)
    if spans is None:
        yield file.finding(1, "function-length", "cannot tell where functions end: does not parse")
        return
    for name, first, last in spans:
        if last - first + 1 > MAX_FUNCTION_LINES:
            yield file.finding(first, "function-length", f"{name} has {last - first + 1} lines")


def check_text(file):
    for rule, pattern in (("unfinished", UNFINISHED), ("place", PLACE)):
        for match in pattern.finditer(file.text):
            yield file.finding(line_of(file.text, match.start()), rule, match.group())


FILE_RULES = (
    check_include_direction,
    check_plugin_isolation,
    check_header,
    check_banned_words,
    check_names,
    check_lengths,
    check_function_lengths,
    check_text,
)


def _built_folders(files):
    """Folders of src/ that the build takes in: listed in src/CMakeLists.txt, with a file of that
    name of their own."""
    listed = files["src/CMakeLists.txt"].text if "src/CMakeLists.txt" in files else ""
    return {name for name in re.findall(r"^add_subdirectory\((\w+)\)", listed, re.MULTILINE)
            if f"src/{name}/CMakeLists.txt" in files}


def _is_built(file, built_folders, cmake_files):
    if file.folder and not file.path.endswith("_bench.cc"):
        return file.folder in built_folders
    for cmake in cmake_files:
        folder, _, name = cmake.path.rpartition("/")
        globs = name == "CMakeLists.txt" and "GLOB" in cmake.text
        if folder != "src" and globs and file.path.startswith(folder + "/"):
            return True
        if re.search(rf"(?<!\w){re.escape(file.name)}(?!\w)", cmake.text):
            return True
    return False


def check_dead_files(files):
    cmake = [file for file in files.values() if file.path.endswith(("CMakeLists.txt", ".cmake"))]
    built = _built_folders(files)
    included = {"src/" + path for file in files.values() for _, path, _ in file.includes}
    for file in files.values():
        if file.path.endswith(".cc") and not _is_built(file, built, cmake):
            yield file.finding(1, "dead-file", "no CMake file builds this")
        if file.is_header and file.folder and file.path not in included:
            yield file.finding(1, "dead-file", "nothing includes this header")


def check_folder_table(files):
    """src/README.md has one row a folder, `| base/ | what | may include |`."""
    table = files.get("src/README.md")
    folders = {file.folder for file in files.values() if file.folder and file.is_cpp}
    rows = {}
    for number, line in enumerate(table.text.split("\n") if table else (), start=1):
        row = re.match(r"\|\s*`?([a-z0-9]+)/`?\s*\|[^|]*\|([^|]*)\|\s*$", line)
        if row:
            rows[row.group(1)] = (number, row.group(2))
    for folder in sorted(folders - set(rows)):
        yield Finding("src/README.md", 1, "folder-table", f"no row for {folder}/")
    for folder, (number, cell) in rows.items():
        said = re.findall(r"[a-z0-9]+", cell.replace("nothing", ""))
        allowed = MAY_INCLUDE.get(folder, ())
        if set(said) != set(allowed):
            what = f"{folder}/ may include {', '.join(allowed) or 'nothing'}"
            yield Finding("src/README.md", number, "folder-table", what)


def check_links(file, exists):
    """Links of a page to files of ours lead somewhere."""
    if not file.path.endswith(".md"):
        return
    for match in re.finditer(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", file.text):
        target = match.group(1)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), target))
        if not re.match(r"[a-z]+:", target) and not exists(path):
            yield file.finding(line_of(file.text, match.start()), "dead-link", target)


def check_files(texts, exists=None):
    """All findings for a tree given as {path: text}; `exists` knows all files."""
    exists = exists or texts.__contains__
    files = {path: SourceFile(path, text) for path, text in texts.items()}
    findings = [found for file in files.values() for rule in FILE_RULES for found in rule(file)]
    for file in files.values():
        findings.extend(check_own_header_first(file, files))
        findings.extend(check_links(file, exists))
    findings.extend(check_dead_files(files))
    findings.extend(check_folder_table(files))
    return sorted(set(findings))


def _is_ours(folder, name):
    # tests/corpus/<target>/ holds inputs for readers: anything at all.
    if "corpus" in folder and not name.endswith(".cc"):
        return False
    return name.endswith(TEXT_ENDINGS) or name in TEXT_NAMES


def read_tree(root):
    texts = {}
    for path, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not SKIPPED_FOLDERS.fullmatch(name))
        folder = pathlib.Path(path).relative_to(root).parts
        for name in sorted(names):
            if _is_ours(folder, name):
                text = pathlib.Path(path, name).read_text(encoding="utf-8", errors="replace")
                texts["/".join((*folder, name))] = text
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    here = pathlib.Path(__file__).resolve()
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=here.parents[2])
    root = parser.parse_args().root
    findings = check_files(read_tree(root), lambda path: (root / path).exists())
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
