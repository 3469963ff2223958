"""Every regular expression of the product, measured on texts made against it.

The source is the registry: a pattern is compiled at the top of its module, where this test finds
it, or stands in `MADE_WHEN_ASKED` with an example.
"""

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.index.words import snippets
from tests.house.pages import ROOT
from tests.support.growth import MOST_RATIO, slowest_growth, texts_against
from tests.support.hostile_texts import TEXTS, repeated

USES = frozenset({"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall"}) | {
    "finditer"
}
AT_THE_BEGINNING = frozenset({"match", "fullmatch"})

MADE_WHEN_ASKED: dict[str, list[re.Pattern[str]]] = {
    "qms.index.words.snippets": [snippets._accented(("a", "token"))],
    "qms.text.secrets": [],  # made while the module is imported, and found in its table
    "qms.config.masked": [re.compile("0" * 64, re.IGNORECASE)],  # the hash of a key, no text
}
NOT_SEARCHED = ("FILES", ".files", ":_ANY", "frames:_NEXT", "frames:_NEXT_BUT_LEAVES")
"""Used at the beginning of a text alone, by another name: `open_export` compares whole names."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "qms").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(_is_use(node) for node in ast.walk(tree)):
            yield _name(path), tree


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _is_use(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in USES
    )


def _uses_in_functions(tree: ast.AST) -> int:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    inside = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, functions)
        for inner in ast.walk(node)
        if _is_use(inner)
    }
    return len(inside)


def _patterns_in(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif depth > 3:
        return
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from _patterns_in(f"{name}.{field}", getattr(value, field), depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _patterns_in(f"{name}[{key}]", item, depth + 1)
    elif isinstance(value, tuple | list):
        for place, item in enumerate(value):
            yield from _patterns_in(f"{name}[{place}]", item, depth + 1)


@cache
def patterns() -> dict[str, re.Pattern[Any]]:
    """Return every pattern by module and name, each once."""
    found: dict[re.Pattern[Any], str] = {}
    for module, _ in modules():
        for name, value in vars(importlib.import_module(module)).items():
            for place, pattern in _patterns_in(f"{module}:{name}", value):
                found.setdefault(pattern, place)
        for number, made in enumerate(MADE_WHEN_ASKED.get(module, ())):
            found.setdefault(made, f"{module}:made[{number}]")
    return {place: pattern for pattern, place in found.items()}


@cache
def methods() -> dict[str, set[str]]:
    """Return how names are used anywhere: `_WORD.findall` says that `_WORD` looks everywhere."""
    used: dict[str, set[str]] = {}
    for path in (ROOT / "qms").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in USES:
                owner = node.value
                name = getattr(owner, "id", getattr(owner, "attr", ""))
                local = f"{_name(path)}:{name}"
                used.setdefault(name if not name.startswith("_") else local, set()).add(node.attr)
    return used


def looks_everywhere(place: str) -> bool:
    if place.endswith(NOT_SEARCHED):
        return False
    name = place.partition(":")[2]
    used = methods().get(place if name.startswith("_") else name, set())
    return not used or not used <= AT_THE_BEGINNING


def works(pattern: re.Pattern[Any], *, everywhere: bool) -> list[Callable[[str], object]]:
    """Return the ways to use a pattern whose growth counts."""

    def given(text: str) -> Any:
        return text.encode("utf-8") if isinstance(pattern.pattern, bytes) else text

    used: list[Callable[[str], object]] = [lambda text: pattern.fullmatch(given(text))]
    if everywhere:
        used.append(lambda text: sum(1 for _ in pattern.finditer(given(text))))
    else:
        used.append(lambda text: pattern.match(given(text)))
    return used


def worst(pattern: re.Pattern[Any], *, everywhere: bool = True) -> tuple[float, str]:
    spelled = pattern.pattern
    text = spelled.decode("latin-1") if isinstance(spelled, bytes) else spelled
    for what, make in (*texts_against(text, pattern.flags), *TEXTS.items()):
        for work in works(pattern, everywhere=everywhere):
            if (growth := slowest_growth(work, make)) > MOST_RATIO:
                return growth, what
    return 1.0, ""


def test_every_pattern_stands_where_it_is_found() -> None:
    odd = [
        module
        for module, tree in modules()
        if _uses_in_functions(tree) and module not in MADE_WHEN_ASKED
    ]

    assert odd == [], "compile the pattern at the top of the module"
    for module, tree in modules():
        made = sum(_is_use(node) for node in ast.walk(tree))
        found = [
            pattern
            for name, value in vars(importlib.import_module(module)).items()
            for _, pattern in _patterns_in(name, value)
        ]
        assert len(found) + len(MADE_WHEN_ASKED.get(module, ())) >= made, module


def test_nothing_of_re_is_imported_by_name() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "qms").rglob("*.py")]

    assert not any("from re import" in text or "import re as" in text for text in sources)


@pytest.mark.attack("83")
@pytest.mark.parametrize("place", sorted(patterns()))
def test_a_pattern_is_linear_in_its_text(place: str) -> None:
    growth, text = worst(patterns()[place], everywhere=looks_everywhere(place))

    assert growth <= MOST_RATIO, f"{text}: four times the text takes {growth:.0f} times as long"


@pytest.mark.parametrize(
    "pattern",
    [
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}",
        r"(?ms)^(```|~~~).*?^\1[ \t]*$",
        r"(?m)^# +(?P<title>.+?)[ #]*$",
        r"\[\[(?P<target>[^\[\]|#\n]+)[^\[\]\n]*\]\]",
        r"(?P<name>[A-Za-z_][\w -]*?)[ \t]*:(?:[ \t]+(?P<value>.*)|[ \t]*)",
        r"\s+#\s.*",
        r"<think>.*?</think>",
        r"[^\W_]*[^\W_\x00-\x7f][^\W_]*",
        r"(?:[a-z]|[a-f])+x",
    ],
)
def test_the_measure_finds_patterns_that_are_not_linear(pattern: str) -> None:
    assert worst(re.compile(pattern))[0] > MOST_RATIO


def test_the_measure_finds_nothing_where_work_is_linear() -> None:
    assert slowest_growth(str.upper, repeated("a"), sizes=(1 << 16, 1 << 18, 1 << 20)) <= MOST_RATIO
