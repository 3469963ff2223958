"""What may stand in one module only, so that no second place can do it otherwise."""

import ast

from tests.house.pages import ROOT, modules

FOLDERS = ("qms", "tools", "tests", "installer")


def importers_of(library: str) -> set[str]:
    """Return the files with an import of a library, at their top or inside a function."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in modules(*FOLDERS)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if library in imported(node)
    }


def imported(node: ast.AST) -> set[str]:
    """Return the top packages that a statement imports."""
    match node:
        case ast.Import(names=names):
            return {name.name.partition(".")[0] for name in names}
        case ast.ImportFrom(module=str(module), level=0):
            return {module.partition(".")[0]}
        case _:
            return set()


def test_onnxruntime_is_imported_where_its_telemetry_is_turned_off() -> None:
    assert importers_of("onnxruntime") == {"qms/models/onnx_files.py"}


OPENERS = {
    "qms/disk/regular_files.py": "the one place",
    "qms/disk/disk.py": "folders, to sync them",
    "qms/disk/root_lock.py": "the folder of the root, to lock it",
    "qms/telemetry/logs.py": "of a descriptor that was checked",
    "qms/disk/archives.py": "members of an archive that is open already",
    "qms/disk/beneath.py": "documents that a person names, outside of a root, link by link",
    "qms/disk/export_files.py": "an export that a person names, outside of a root",
    "qms/app/stdio_server.py": "the configuration, which a person owns",
}
"""What opens a file by itself in the rooms that work on the files of a root, and why."""

ROOMS = (
    "memory",
    "text",
    "disk",
    "telemetry",
    "auth",
    "store",
    "index",
    "search",
    "commands",
    "features",
    "app",
)


def opens_by_itself(node: ast.AST) -> bool:
    """Say whether a call opens a file without looking at what it is."""
    match node:
        case ast.Call(func=ast.Name(id="open")):
            return True
        case ast.Call(func=ast.Attribute(attr="read_bytes" | "write_bytes" | "write_text")):
            return True
        case ast.Call(func=ast.Attribute(attr="open", value=ast.Name(id="os" | "io"))):
            return True
        case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str())]):
            return True
        case ast.Call(func=ast.Attribute(attr="read_text", value=receiver)):
            return not is_of_the_package(receiver)
        case _:
            return False


def is_of_the_package(receiver: ast.expr) -> bool:
    """Say whether a path is that of a file which the package brings with it."""
    text = ast.unparse(receiver)
    return "find_resource(" in text or "Path(__file__)" in text


def test_files_of_a_root_are_opened_in_one_place() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in modules(*(f"qms/{room}" for room in ROOMS))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if opens_by_itself(node)
    }

    assert found == OPENERS.keys()


def test_the_scan_finds_each_way_to_open_a_file() -> None:
    ways = ("open(p)", "p.read_bytes()", "os.open(p, 0)", "p.open('rb')", "p.read_text()")

    assert all(any(map(opens_by_itself, ast.walk(ast.parse(way)))) for way in ways)
    assert not any(map(opens_by_itself, ast.walk(ast.parse("disk.open(path)"))))
