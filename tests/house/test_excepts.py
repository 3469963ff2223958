"""Which places may catch every error: the request boundary, the loops, and few others by reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.pages import ROOT, modules

REQUEST = "the request boundary"
LOOP = "a loop of jobs or of the watcher"
HANDED_ON = "the error goes to a thread or task that waits for it"
NATIVE = "a native library raises Exception itself, or a panic that is no Exception"

ALLOWED = {
    "qms/app/process.py: _run_to_outcome": HANDED_ON,
    "qms/bridge/bridge.py: _serve": REQUEST,
    "qms/cli/program.py: run": REQUEST,
    "qms/disk/watcher.py: dispatch": LOOP,
    "qms/features/recall/search.py: look": NATIVE,
    "qms/http/errors.py: guarded": REQUEST,
    "qms/index/build.py: _make_words": NATIVE,
    "qms/index/store_indexes.py: follow": NATIVE,
    "qms/mcp/calls.py: ask": REQUEST,
    "qms/mcp/project_servers.py: _sweep_forever": LOOP,
    "qms/mcp/tools.py: call": REQUEST,
    "qms/models/choose.py: _open_model": NATIVE,
    "qms/models/cross_encoder.py: _score_batch": NATIVE,
    "qms/models/cross_encoder.py: open_reranker": NATIVE,
    "qms/platforms/setup/__main__.py: _at_work": REQUEST,
    "qms/platforms/windows_service.py: _serve": REQUEST,
    "qms/index/indexer.py: _attempt": NATIVE,
    "qms/sandbox/child.py: main": HANDED_ON,
    "qms/store/catalog.py: _close_store": LOOP,
    "qms/store/catalog.py: _load": HANDED_ON,
    "qms/store/group_commit.py: _lead": HANDED_ON,
    "qms/store/keeper.py: _attempt": LOOP,
    "qms/store/loop.py: _guarded_tick": LOOP,
    "qms/store/writer.py: _plan_group": HANDED_ON,
    "qms/store/writer.py: _guard": NATIVE,
}
"""The functions that may catch everything, and why. A clean-up needs none: see ExitStack."""


def blankets(node: ast.AST, owner: str = "module") -> Iterator[str]:
    """Yield the name of the function around each place below a node that catches everything."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        owner = node.name
    if catches_everything(node):
        yield owner
    for child in ast.iter_child_nodes(node):
        yield from blankets(child, owner)


def catches_everything(node: ast.AST) -> bool:
    """Say whether a node is a handler or a `suppress` of all errors."""
    match node:
        case ast.ExceptHandler(type=None):
            return True
        case ast.ExceptHandler(type=ast.Tuple(elts=types)):
            return any(map(is_blanket, types))
        case ast.ExceptHandler(type=ast.expr() as one):
            return is_blanket(one)
        case ast.Call(func=ast.Name(id="suppress") | ast.Attribute(attr="suppress"), args=types):
            return any(map(is_blanket, types))
        case _:
            return False


def is_blanket(kind: ast.expr) -> bool:
    """Say whether a type of errors is one of the two roots."""
    names = ("Exception", "BaseException")
    return ast.unparse(kind).removeprefix("builtins.") in names


def found_in(paths: list[Path]) -> set[str]:
    return {
        f"{path.relative_to(ROOT).as_posix()}: {owner}"
        for path in paths
        for owner in blankets(ast.parse(path.read_bytes()))
    }


def test_only_the_listed_places_catch_every_error() -> None:
    assert found_in(modules("qms")) == ALLOWED.keys()


@pytest.mark.parametrize(
    "text",
    [
        "except Exception:\n  pass",
        "except BaseException as error:\n  pass",
        "except builtins.Exception:\n  pass",
        "except (OSError, Exception):\n  raise",
        "except:\n  pass",
        "finally:\n  contextlib.suppress(Exception)",
    ],
)
def test_the_scan_finds_each_way_to_catch_every_error(text: str) -> None:
    tree = ast.parse(f"def work():\n try:\n  pass\n {text.replace(chr(10), chr(10) + ' ')}\n")

    assert list(blankets(tree)) == ["work"]


@pytest.mark.parametrize("kind", ["OSError", "(OSError, ValueError)", "ExceptionGroup"])
def test_the_scan_leaves_named_errors_alone(kind: str) -> None:
    tree = ast.parse(f"try:\n  pass\nexcept {kind}:\n  pass\n")

    assert not list(blankets(tree))
