#!/usr/bin/env python3
"""Checks docs/promises.md, so that a row can only claim what the tree really has.

The page parses, ids are unique and ascending, documents are known ones, and every reference in
"kept by" names an existing file and, after a colon, a name that occurs in it. Whether the test
named there truly keeps the promise is for the reader of the change to judge.
"""

import argparse
import pathlib
import re
import sys

HEADER = ["id", "promise", "documents", "kept by"]
DOCUMENTS = {
    "UPSTREAM_COMPARISON",
    "COMPETITIVE_ADVANTAGE",
    "Analysis & Roadmap",
    "README",
    "USER_GUIDE",
}
NOT_YET = "`not yet`"

ID = re.compile(r"P(\d{3,})")
CELL_BREAK = re.compile(r"(?<!\\)\|")
REFERENCES = re.compile(r"`[^`]+`(?:, `[^`]+`)*")
DIVIDER_CELL = re.compile(r":?-{3,}:?")


class Page:
    """The rows of the page and everything found wrong with them."""

    def __init__(self):
        self.rows = []  # (line number, id, promise, documents, kept by)
        self.errors = []  # (line number, what is wrong)

    def error(self, line, text):
        self.errors.append((line, text))


def split_row(text):
    return [cell.strip() for cell in CELL_BREAK.split(text.strip())[1:-1]]


def read_page(text):
    page = Page()
    place = "text"  # text, header (a divider must follow), rows
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            if place == "header":
                page.error(number, "a table header without the divider line below it")
            if ID.match(line):
                page.error(number, "a row that does not start with '|'")
            place = "text"
            continue
        if not line.rstrip().endswith("|"):
            page.error(number, "a table line must end with '|'")
            continue
        cells = split_row(line)
        if place == "text":
            if cells != HEADER:
                page.error(number, f"a table must start with '| {' | '.join(HEADER)} |'")
            place = "header"
        elif place == "header":
            if len(cells) != len(HEADER) or not all(DIVIDER_CELL.fullmatch(c) for c in cells):
                page.error(number, "the divider line below the header is malformed")
            place = "rows"
        elif len(cells) != len(HEADER):
            page.error(number, f"a row has {len(HEADER)} cells, this one {len(cells)}")
        else:
            page.rows.append((number, *cells))
    if not page.rows:
        page.error(1, "no rows found")
    return page


def check_rows(page):
    last_id = 0
    seen_promises = {}
    for number, row_id, promise, documents, _ in page.rows:
        match = ID.fullmatch(row_id)
        if not match:
            page.error(number, f"id '{row_id}' is not P and at least three digits")
        elif int(match.group(1)) <= last_id:
            page.error(number, f"id {row_id} is not above the one before it (P{last_id:03d})")
        else:
            last_id = int(match.group(1))
        if not promise:
            page.error(number, "the promise is empty")
        elif promise in seen_promises:
            page.error(number, f"the same promise as in line {seen_promises[promise]}")
        seen_promises.setdefault(promise, number)
        names = documents.split(", ")
        for name in names:
            if name not in DOCUMENTS:
                page.error(number, f"unknown document '{name}'")
        if len(set(names)) != len(names):
            page.error(number, "a document is named twice")


def occurs(name, text):
    """True if `name` stands in `text` as a whole word, or, as Suite.Name, in a gtest macro."""
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
        return True
    suite, dot, test = name.partition(".")
    if not dot:
        return False
    # TEST, TEST_F, TEST_P, TYPED_TEST and rapidcheck's RC_GTEST_PROP all end in (Suite, Name.
    return re.search(rf"\(\s*{re.escape(suite)},\s*{re.escape(test)}\s*[,)]", text) is not None


def check_reference(root, reference):
    """Returns what is wrong with one reference, or None."""
    path, colon, name = reference.partition(":")
    parts = pathlib.PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts:
        return f"'{reference}' is not a path inside the repository"
    file = root / parts
    if not file.is_file():
        return f"'{path}' is not a file of the repository"
    if not colon:
        return None
    if not name:
        return f"'{reference}' has nothing after the colon"
    if not occurs(name, file.read_text(encoding="utf-8", errors="replace")):
        return f"'{name}' does not occur in '{path}'"
    return None


def check_references(page, root):
    kept = 0
    for number, row_id, _, _, kept_by in page.rows:
        if kept_by == NOT_YET:
            continue
        if not REFERENCES.fullmatch(kept_by):
            page.error(number, f"'kept by' of {row_id} is {NOT_YET} or `path` or `path:name`, "
                               "several separated by ', '")
            continue
        kept += 1
        for reference in re.findall(r"`([^`]+)`", kept_by):
            problem = check_reference(root, reference)
            if problem:
                page.error(number, f"{row_id}: {problem}")
    return kept


def main():
    repository = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=repository,
                        help="repository the references are looked up in")
    parser.add_argument("--page", type=pathlib.Path,
                        help="page to check (default: docs/promises.md of the repository)")
    options = parser.parse_args()
    page_path = options.page or options.root / "docs" / "promises.md"

    try:
        text = page_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        print(f"{page_path}: {problem}", file=sys.stderr)
        return 1
    page = read_page(text)
    check_rows(page)
    kept = check_references(page, options.root)
    for line, error in sorted(page.errors):
        print(f"{page_path}:{line}: {error}", file=sys.stderr)
    if page.errors:
        return 1
    print(f"{len(page.rows)} promises, {kept} kept, {len(page.rows) - kept} not yet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
