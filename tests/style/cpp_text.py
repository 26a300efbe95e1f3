"""Just enough understanding of C++ text for the style rules: what is code and what is comment or
string, which includes a file has, where its functions begin and end. No grammar: it reads code that
a compiler already accepts, in the layout that clang-format gives it."""

import re

_TOKEN = re.compile(
    r"""
    (?P<comment> //(?:\\\n|[^\n])* | /\*.*?\*/ )
  | (?P<raw> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" )
  | (?P<string> "(?:\\.|[^"\\\n])*" )
  | (?P<number> (?<!\w)[0-9](?:'?[\w.])* )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<char> '(?:\\.|[^'\\\n])+' )
    """,
    re.VERBOSE | re.DOTALL,
)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_only(text):
    """The text with comments and the insides of literals blanked, every column in place."""

    def replace(match):
        found = match.group()
        if found.startswith(("//", "/*")):
            return _blank(found)
        if found.endswith('"'):
            return '"' + _blank(found[1:-1]) + '"'
        if found.startswith("'"):
            return "'" + _blank(found[1:-1]) + "'"
        return found

    return _TOKEN.sub(replace, text)


def raw_string_lines(text):
    """Numbers of the lines that lie in a raw string: data, which cannot be laid out anew."""
    lines = set()
    for match in _TOKEN.finditer(text):
        if match.group("raw"):
            first = text.count("\n", 0, match.start()) + 1
            lines.update(range(first, first + match.group().count("\n") + 1))
    return lines


def includes(text, code):
    """(line number, path, quoted?) of every include, in order."""
    found = []
    for number, (line, stripped) in enumerate(zip(text.split("\n"), code.split("\n")), start=1):
        if re.match(r"\s*#\s*include\b", stripped):
            match = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
            if match:
                found.append((number, match.group(1) or match.group(2), bool(match.group(1))))
    return found


def without_directives(code):
    """Code without preprocessor lines; of an #if, the first branch."""
    out, alternative, continued = [], [], False
    for line in code.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if directive and not continued:
            word = directive.group(1)
            if word.startswith("if"):
                alternative.append(False)
            elif word.startswith("el") and alternative:
                alternative[-1] = True
            elif word == "endif" and alternative:
                alternative.pop()
        hidden = bool(directive) or continued or any(alternative)
        continued = (bool(directive) or continued) and line.endswith("\\")
        out.append("" if hidden else line)
    return "\n".join(out)


def _matching_braces(code):
    """Position of each opening brace to that of its closing one; None if they do not balance."""
    closing, opened = {}, []
    for match in re.finditer(r"[{}]", code):
        if match.group() == "{":
            opened.append(match.start())
        elif not opened:
            return None
        else:
            closing[opened.pop()] = match.start()
    return None if opened else closing


def _without_template(head):
    while head.startswith("template"):
        depth, end = 0, len(head)
        for match in re.finditer(r"[<>]", head):
            depth += 1 if match.group() == "<" else -1
            if depth == 0:
                end = match.end()
                break
        head = head[end:].lstrip()
    return head


_QUALIFIERS = re.compile(r"(?:const|volatile|noexcept|override|final|mutable|try|&|@|\s)*")
_CLASS = re.compile(r"(?:(?:typedef|static|inline|constexpr|const|friend)\s+)*"
                    r"(?:class|struct|union|enum)\b[^@=]*$")


def _classify(head):
    """What a brace after `head`, at namespace or class level, opens: "scope", "function" or "data",
    and the name of the function."""
    if re.search(r"\bnamespace\b[^()=]*$", head) or re.fullmatch(r'extern\s*"\s*"', head):
        return "scope", ""
    head = re.sub(r"\[\[[^\]]*\]\]", " ", _without_template(head))
    reduced, count = head, 1
    while count:
        reduced, count = re.subn(r"\([^()]*\)", "@", reduced)
    reduced = re.sub(r"\b(?:explicit|alignas|decltype|requires)\s*@", " ", reduced).strip()
    if _CLASS.match(reduced):
        return "scope", ""
    if "@" not in reduced:
        return "data", ""
    before, after = reduced.split("@", 1)
    after = after[_QUALIFIERS.match(after).end():]
    name = re.search(r"(operator\W+|[\w~:]+)\s*$", before)
    name = name.group(1) if name else "function"
    if after == "" or after.startswith(("->", "requires")):
        return "function", name
    if after.startswith(":") and not after.startswith("::"):
        # Initialisers of a constructor: a{1} is preceded by a name, the body by ")" or "}".
        return ("function", name) if after[-1] in "@}" else ("data", "")
    return "data", ""


def functions(code):
    """(name, first line, last line) of every function outside other functions; None if the braces
    do not balance. Lambdas and local classes belong to the function around them."""
    code = without_directives(code)
    closing = _matching_braces(code)
    if closing is None:
        return None
    found, begin, depth, position = [], 0, 0, 0
    token = re.compile(r"[(){};]|\b(?:public|private|protected)\s*:(?!:)")
    while match := token.search(code, position):
        position = match.end()
        what = match.group()
        if what in "()":
            depth += 1 if what == "(" else -1
        elif depth > 0 and what != "{":
            continue
        elif what != "{":
            begin = position
        else:
            head = code[begin:match.start()]
            kind, name = ("data", "") if depth > 0 else _classify(head.strip())
            if kind == "scope":
                begin = position
                continue
            position = closing[match.start()] + 1
            if kind == "function":
                start = begin + len(head) - len(head.lstrip())
                first, last = (code.count("\n", 0, at) + 1 for at in (start, position))
                found.append((name, first, last))
                begin = position
    return found
