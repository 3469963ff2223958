"""The places where the package decodes or converts, and whether their types are prepared.

    python -m tests.support.decode_calls PROGRAM

It imports what the program imports before its first thread, prepares the types, and imports every
other module. Nothing is decoded on the way, so a type that is then unprepared would be built by the
first thread that needs it. The last line of standard output is a JSON object.
"""

import ast
import gc
import json
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec

import qms
from qms import cli
from qms.memory.struct_types import prepare_types

PROGRAMS = {
    "serve": (("qms.app.console",), ("qms.cli.", "qms.platforms.setup.", "qms.bridge.")),
    "mcp": (("qms.app.stdio",), ("",)),
    "memoryctl": (
        ("qms.cli.local", *(f"qms.cli.{one.name}" for one in pkgutil.iter_modules(cli.__path__))),
        ("qms.http.", "qms.mcp.", "qms.bridge.", "qms.platforms."),
    ),
}
"""What a program imports before its first thread, and the modules that it never imports later.

`qms mcp` may import the server later, which then prepares its types as `qms serve` does.
`memoryctl` imports a verb, and threads start when it opens the files of a root.
"""

FUNCTIONS = {
    "msgspec.convert": 1,
    "msgspec.json.decode": None,
    "msgspec.json.Decoder": 0,
    "msgspec.json.schema": 0,
    "msgspec.json.schema_components": 0,
    "msgspec.msgpack.decode": None,
    "msgspec.msgpack.Decoder": 0,
}
"""What builds the information of types; the number is the place of the type, else `type=`."""

GATES = frozenset(
    {
        "qms.memory.problems._problems",
        "qms.memory.validation._typed",
        "qms.memory.json_schema.schemas_of",
        "qms.memory.json_schema.type_schema",
        "qms.memory.struct_types._prepare",
        "qms.config.convert.to_struct",
        "qms.features.sync.peers_file.Peers._read",
        "qms.models.chat_answers.ask",
        "qms.features.transfer.importers.items.decode",
        "qms.commands.corrections._corrected",
        "qms.commands.cursors.CursorSigner.read",
        "qms.commands.requests.read_request",
    }
)
"""Functions that take the type as an argument; a module that uses one has its types prepared."""


def is_prepared(found: type[msgspec.Struct]) -> bool:
    """Say whether msgspec has built the information of a type."""
    return any(type(part).__name__ == "StructInfo" for part in gc.get_referents(found))


def main(program: str) -> None:
    """Print how many types are decoded, which are unprepared, and which calls are unknown."""
    first, never_later = PROGRAMS[program]
    for name in first:
        import_module(name)
    prepare_types()
    loaded = set(sys.modules)
    decoded: set[type[Any]] = set()
    unknown: list[str] = []
    for module in _modules():
        if module.__name__ not in loaded and module.__name__.startswith(never_later):
            continue
        calls = list(_calls(ast.parse(Path(str(module.__file__)).read_text("utf-8")), ""))
        for owner, wanted in calls:
            found = _evaluated(wanted, module)
            if found is not None:
                decoded.update(_struct_types(found))
            elif f"{module.__name__}.{owner}" not in GATES:
                unknown.append(f"{module.__name__}.{owner}: {ast.unparse(wanted)}")
        if _uses_gate(module):
            decoded.update(_own_types(module))
    unprepared = sorted(str(one) for one in decoded if not is_prepared(one))
    print(json.dumps({"types": len(decoded), "unprepared": unprepared, "unknown": unknown}))


def _modules() -> list[ModuleType]:
    """Import every module that this system can, without running programs."""
    modules = []
    for found in pkgutil.walk_packages(qms.__path__, "qms."):
        if found.name.endswith("__main__"):
            continue
        try:
            modules.append(import_module(found.name))
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("qms"):
                raise  # what is missing otherwise is pywin32, on every system but Windows
    return modules


def _calls(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield each call that builds the information of a type: its function and the type."""
    for child in ast.iter_child_nodes(node):
        inner = owner
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{owner}.{child.name}".removeprefix(".")
        elif isinstance(child, ast.Call) and (wanted := _wanted(child)) is not None:
            yield owner, wanted
        yield from _calls(child, inner)


def _wanted(call: ast.Call) -> ast.expr | None:
    called = ast.unparse(call.func)
    if called not in FUNCTIONS:
        return None
    place = FUNCTIONS[called]
    if place is not None and len(call.args) > place:
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "type"), None)


def _evaluated(wanted: ast.expr, module: ModuleType) -> Any:
    """Return the type that an expression names in its module, or None for a local name."""
    try:
        return eval(ast.unparse(wanted), vars(module))
    except NameError:
        return None


def _struct_types(wanted: Any) -> Iterator[type[Any]]:
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        yield wanted
    for argument in get_args(wanted):
        yield from _struct_types(argument)


def _uses_gate(module: ModuleType) -> bool:
    names = {
        f"{getattr(one, '__module__', '')}.{getattr(one, '__qualname__', '')}"
        for one in vars(module).values()
        if callable(one)
    }
    return not names.isdisjoint(GATES)


def _own_types(module: ModuleType) -> Iterator[type[Any]]:
    for one in vars(module).values():
        is_struct = isinstance(one, type) and issubclass(one, msgspec.Struct)
        if is_struct and one.__module__ == module.__name__ and _is_usable(one):
            yield one


def _is_usable(found: type[Any]) -> bool:
    """Say whether msgspec takes the type at all; one with an unknown name it always refuses."""
    try:
        msgspec.structs.fields(found)
    except NameError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1])
