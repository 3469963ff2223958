"""Rules for what stands out of a text by its form: code between fences, and numbered steps."""

import re
from collections.abc import Iterator

import msgspec

MAX_CODE_CHARACTERS = 32_768
LEAST_LINES = 4
"""A shorter piece of code is an example in passing."""
LEAST_STEPS = 3

_FENCE = "```"
_BLOCK = re.compile(r"^[ \t]*```([\w+#.-]*)[^\n]*\n(.*?)\n[ \t]*```", re.MULTILINE | re.DOTALL)
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
    """A piece of code; `name` is the first thing that it defines."""

    language: str
    name: str
    text: str


class Steps(msgspec.Struct, frozen=True, gc=False):
    """A numbered list of things to do, and the line above it."""

    heading: str
    steps: list[str]


def find_code(text: str) -> Iterator[Code]:
    """Yield the pieces of code in a text that are long enough to be worth keeping."""
    if _FENCE not in text:
        return
    for block in _BLOCK.finditer(text):
        language, code = block[1].lower(), block[2].strip("\n")
        lines = sum(1 for line in code.split("\n") if line.strip())
        if language not in _NO_CODE and lines >= LEAST_LINES and len(code) <= MAX_CODE_CHARACTERS:
            name = _NAME.search(code)
            yield Code(language, name[1] if name else "", code)


def without_code(text: str) -> str:
    """Return a text without what stands between fences, and without what it quotes."""
    if _FENCE in text:
        text = _BLOCK.sub("\n", text)
    if "\n>" in text or text.startswith(">"):
        text = "\n".join(line for line in text.split("\n") if not line.startswith(">"))
    return text


def find_steps(text: str) -> Iterator[Steps]:
    """Yield the numbered lists of a text whose items mostly tell to do something."""
    if "2." not in text and "2)" not in text:
        return
    steps: list[str] = []
    began = 0
    for item in _STEP.finditer(text):
        number = int(item[1])
        if number != len(steps) + 1:
            yield from _procedure(text[:began], steps)
            steps = []
        if number == len(steps) + 1:
            began = began if steps else item.start()
            steps.append(_EMPHASIS.sub("", item[2]).strip())
    yield from _procedure(text[:began], steps)


def _procedure(before: str, steps: list[str]) -> Iterator[Steps]:
    told = sum(1 for step in steps if _first_word(step) in _VERBS)
    if len(steps) >= LEAST_STEPS and told * 2 > len(steps):
        above = before.rstrip().rpartition("\n")[2]
        yield Steps(_EMPHASIS.sub("", above).strip().rstrip(":"), list(steps))


def _first_word(step: str) -> str:
    word = _WORD.match(step.lower())
    return word[0] if word else ""
