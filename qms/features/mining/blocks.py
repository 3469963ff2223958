"""Rules that find code blocks and numbered steps in a text."""

import re
from collections.abc import Iterator

import msgspec

MAX_CODE_CHARACTERS = 32_768
LEAST_LINES = 4
"""Shorter code is not kept: it is usually an example."""
LEAST_STEPS = 3
_MAX_HEADING = 1000
"""The heading of a list is searched in this many characters before it."""

_FENCE = "```"
_LANGUAGE = re.compile(r"[\w+#.-]*")
_NO_CODE = frozenset({"", "text", "txt", "plaintext", "output", "log", "console", "diff"})
_NAME = re.compile(
    r"^[ \t]*(?:export |public |private |static |async |pub |abstract |default )*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|type|const|create table"
    r"|create or replace function)\s+(?:if not exists\s+)?([\w.]+)",
    re.MULTILINE | re.IGNORECASE,
)
_STEP = re.compile(r"^[ \t]{0,3}(\d{1,2})[.)][ \t]+(\S[^\n]*)$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__|^#+\s*")
_WORD = re.compile(r"[a-z]+")
_VERBS = frozenset(
    _WORD.findall("""
    add apply ask backup build bump call change check checkout choose clean clear click clone
    close commit compile configure connect copy create define delete deploy disable download drain
    edit enable ensure enter execute export fetch find follow generate give go import install
    launch load log look make merge migrate mount move open paste pick press publish pull push put
    rebase reboot rebuild reload remove rename replace restart restore revert review roll rollback
    run save scale select send set ship sign start stop switch sync tag take tell test turn type
    uninstall unzip update upgrade upload use verify visit wait watch write
    """)
)


class Code(msgspec.Struct, frozen=True, gc=False):
    """A code block; `name` is the first definition in it."""

    language: str
    name: str
    text: str


class Steps(msgspec.Struct, frozen=True, gc=False):
    """A numbered list of steps, and the line above it."""

    heading: str
    steps: list[str]


def find_code(text: str) -> Iterator[Code]:
    """Yield the code blocks of a text that are long enough to keep."""
    if _FENCE not in text:
        return
    for language, block in _fenced(text)[0]:
        code = block.strip("\n")
        lines = sum(1 for line in code.split("\n") if line.strip())
        if language not in _NO_CODE and lines >= LEAST_LINES and len(code) <= MAX_CODE_CHARACTERS:
            name = _NAME.search(code)
            yield Code(language, name[1] if name else "", code)


def without_code(text: str) -> str:
    """Return a text without fenced blocks and quoted lines."""
    if _FENCE in text:
        text = _fenced(text)[1]
    if "\n>" in text or text.startswith(">"):
        text = "\n".join(line for line in text.split("\n") if not line.startswith(">"))
    return text


def _fenced(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the language and text of each fenced block, and the text outside of them."""
    blocks: list[tuple[str, str]] = []
    outside: list[str] = []
    opened: list[str] = []
    for line in text.split("\n"):
        if not line.lstrip(" \t").startswith(_FENCE):
            (opened or outside).append(line)
        elif not opened:
            opened = [line]
        else:
            language = _LANGUAGE.match(opened[0].lstrip(" \t"), len(_FENCE))
            assert language is not None
            blocks.append((language[0].lower(), "\n".join(opened[1:])))
            outside.append(line.lstrip(" \t").removeprefix(_FENCE))
            opened = []
    return blocks, "\n".join(outside + opened)


def find_steps(text: str) -> Iterator[Steps]:
    """Yield the numbered lists of a text whose items mostly begin with a verb."""
    if "2." not in text and "2)" not in text:
        return
    steps: list[str] = []
    began = 0
    for item in _STEP.finditer(text):
        number = int(item[1])
        if number != len(steps) + 1:
            yield from _procedure(text, began, steps)
            steps = []
        if number == len(steps) + 1:
            began = began if steps else item.start()
            steps.append(_EMPHASIS.sub("", item[2]).strip())
    yield from _procedure(text, began, steps)


def _procedure(text: str, began: int, steps: list[str]) -> Iterator[Steps]:
    actions = sum(1 for step in steps if _first_word(step) in _VERBS)
    if len(steps) >= LEAST_STEPS and actions * 2 > len(steps):
        before = text[max(0, began - _MAX_HEADING) : began]
        above = before.rstrip().rpartition("\n")[2]
        yield Steps(_EMPHASIS.sub("", above).strip().rstrip(":"), list(steps))


def _first_word(step: str) -> str:
    word = _WORD.match(step.lower())
    return word[0] if word else ""
