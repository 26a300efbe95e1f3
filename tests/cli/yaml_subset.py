"""Reads the YAML that kubenexus writes: blocks, quoted texts, numbers, true, false and null.
Not more: Python's library has no YAML reader, and what we write should not need one."""

import json
import re

_KEY = re.compile(r'([A-Za-z]+|"(?:[^"\\]|\\.)*"):(?: (.*))?\Z')


class _Lines:
    def __init__(self, text):
        self.lines = text.splitlines()
        self.at = 0

    def indent(self):
        if self.at == len(self.lines):
            return -1
        line = self.lines[self.at]
        return len(line) - len(line.lstrip(" "))

    def text(self):
        return self.lines[self.at].lstrip(" ")

    def replace_dash(self):
        """The entry of a list is read as if it stood alone."""
        self.lines[self.at] = self.lines[self.at].replace("- ", "  ", 1)


def _block(lines, indent):
    if lines.text().startswith("- "):
        return _list(lines, indent)
    return _map(lines, indent)


def _list(lines, indent):
    out = []
    while lines.indent() == indent and lines.text().startswith("- "):
        entry = lines.text()[2:]
        if _KEY.match(entry):
            lines.replace_dash()
            out.append(_block(lines, indent + 2))
        else:
            lines.at += 1
            out.append(json.loads(entry))
    return out


def _map(lines, indent):
    out = {}
    while lines.indent() == indent:
        key, value = _KEY.match(lines.text()).groups()
        key = json.loads(key) if key.startswith('"') else key
        lines.at += 1
        out[key] = json.loads(value) if value else _block(lines, lines.indent())
    return out


def load(text):
    lines = _Lines(text)
    out = _block(lines, 0)
    if lines.at != len(lines.lines):
        raise ValueError(f"line {lines.at + 1} belongs nowhere: {lines.lines[lines.at]}")
    return out
