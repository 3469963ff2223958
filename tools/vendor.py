"""Download the libraries of the admin page into `spa/vendor`: `python tools/vendor.py`.

Packages come from npm at the versions below, are bundled into one file each, and are committed, so
that neither the server nor its installation needs the network. `spa/vendor/manifest.json` lists
the packages, licence and sha256 of every file; a test compares them.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.toolbox import NODE, install, node_program

FOLDER = Path(__file__).resolve().parent.parent / "spa" / "vendor"
MANIFEST = "manifest.json"

ESBUILD = "esbuild@0.28.2"

CODEMIRROR = (
    "codemirror@6.0.2",
    "@codemirror/autocomplete@6.20.4",
    "@codemirror/commands@6.11.1",
    "@codemirror/lang-json@6.0.2",
    "@codemirror/language@6.13.1",
    "@codemirror/legacy-modes@6.5.5",
    "@codemirror/lint@6.9.7",
    "@codemirror/search@6.7.2",
    "@codemirror/state@6.7.6",
    "@codemirror/view@6.43.15",
    "@lezer/common@1.5.5",
    "@lezer/highlight@1.2.5",
    "@lezer/json@1.0.3",
    "@lezer/lr@1.4.12",
    "@marijn/find-cluster-break@1.0.4",
    "crelt@1.0.7",
    "style-mod@4.1.4",
    "w3c-keyname@2.2.8",
)

PREACT_ENTRY = """
export { h, render, Fragment } from "preact";
export {
    useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState,
} from "preact/hooks";
export { signal, computed, effect, batch } from "@preact/signals";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
"""

CODEMIRROR_ENTRY = """
export { EditorView, minimalSetup } from "codemirror";
export { keymap, lineNumbers, highlightActiveLine } from "@codemirror/view";
export { EditorState, Compartment } from "@codemirror/state";
export { json } from "@codemirror/lang-json";
export { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from
    "@codemirror/language";
export { toml } from "@codemirror/legacy-modes/mode/toml";
export { setDiagnostics, lintGutter } from "@codemirror/lint";
export { history, historyKeymap, defaultKeymap, indentWithTab } from "@codemirror/commands";
export { tags } from "@lezer/highlight";
"""

ICONS = """
archive arrow-clockwise arrow-counterclockwise arrow-left arrow-left-right arrow-right
arrows-move box-arrow-right boxes braces check2 chevron-down chevron-right circle-half clipboard
clock-history cloud-arrow-down copy diagram-3 download exclamation-triangle eye
file-earmark-text folder2-open funnel gear graph-up hdd-stack info-circle intersect journal-text
key keyboard link-45deg list list-check lock moon-stars pencil people pin-angle pin-angle-fill
play plug plus-lg question-circle search shield-check sliders speedometer2 sun tag terminal
trash3 upload x-lg
"""


class Made(msgspec.Struct, frozen=True):
    """One file of the folder: its packages, and how it is built."""

    name: str
    packages: tuple[str, ...]
    make: Callable[[Path], str]


class Listed(msgspec.Struct, frozen=True):
    """An entry of the manifest."""

    file: str
    packages: list[str]
    licences: list[str]
    sha256: str


def copied(path: str) -> Callable[[Path], str]:
    """Return a function that copies a file, without the URL of its source map."""

    def make(modules: Path) -> str:
        text = (modules / path).read_text(encoding="utf-8")
        return re.sub(r"\n?/[/*]# sourceMappingURL=\S+( \*/)?\n?", "\n", text)

    return make


def bundled(entry: str) -> Callable[[Path], str]:
    """Return a function that bundles several packages into one module."""

    def make(modules: Path) -> str:
        options = ("--bundle", "--format=esm", "--minify", "--target=es2022", "--charset=utf8")
        return _node(modules, "esbuild/bin/esbuild", *options, "--legal-comments=none", given=entry)

    return make


def icon_sheet(modules: Path) -> str:
    """Return the icons of the page as the symbols of one SVG file."""
    symbols = []
    for name in ICONS.split():
        drawing = (modules / "bootstrap-icons/icons" / f"{name}.svg").read_text(encoding="utf-8")
        inside = re.search(r"<svg[^>]*>(.*)</svg>", drawing, re.DOTALL)
        assert inside is not None
        paths = re.sub(r"\s*\n\s*", "", inside[1])
        symbols.append(f'<symbol id="{name}" viewBox="0 0 16 16">{paths}</symbol>')
    sheet = "\n".join(symbols)
    return f'<svg xmlns="http://www.w3.org/2000/svg" fill="currentColor">\n{sheet}\n</svg>\n'


FILES = (
    Made(
        "bootstrap-5.3.8.min.css",
        ("bootstrap@5.3.8",),
        copied("bootstrap/dist/css/bootstrap.min.css"),
    ),
    Made(
        "preact-11.2.0.js",
        (
            "preact@11.2.0",
            "@preact/signals@2.11.4",
            "@preact/signals-core@1.14.5",
            "htm@3.1.1",
        ),
        bundled(PREACT_ENTRY),
    ),
    Made(
        "uplot-1.6.32.js", ("uplot@1.6.32",), bundled('export { default } from "uplot"; // charts')
    ),
    Made("uplot-1.6.32.css", ("uplot@1.6.32",), copied("uplot/dist/uPlot.min.css")),
    Made(
        "cytoscape-3.34.4.js",
        ("cytoscape@3.34.4",),
        copied("cytoscape/dist/cytoscape.esm.min.mjs"),
    ),
    Made("codemirror-6.0.2.js", CODEMIRROR, bundled(CODEMIRROR_ENTRY)),
    Made("icons-1.13.2.svg", ("bootstrap-icons@1.13.2",), icon_sheet),
)


def main() -> None:
    install(NODE)
    with tempfile.TemporaryDirectory() as scratch:
        modules = _install_packages(Path(scratch))
        FOLDER.mkdir(exist_ok=True)
        for old in FOLDER.iterdir():
            old.unlink()
        listed = [_write(made, modules) for made in FILES]
        _write_licences(modules)
    (FOLDER / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(listed)) + b"\n")
    for one in listed:
        print(f"{one.file}: {one.sha256}")


def _install_packages(folder: Path) -> Path:
    wanted = sorted({ESBUILD, *(package for made in FILES for package in made.packages)})
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    npm = node_program("npm")
    assert npm is not None
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    subprocess.run([npm, "install", *quiet, "--prefix", str(folder), *wanted], check=True)
    return folder / "node_modules"


def _write(made: Made, modules: Path) -> Listed:
    content = made.make(modules).encode()
    (FOLDER / made.name).write_bytes(content)
    licences = sorted({_described(modules, package)["license"] for package in made.packages})
    digest = hashlib.sha256(content).hexdigest()
    return Listed(made.name, list(made.packages), licences, digest)


def _write_licences(modules: Path) -> None:
    parts = []
    for package in sorted({package for made in FILES for package in made.packages}):
        text = (modules / _name(package) / "LICENSE").read_text(encoding="utf-8").strip()
        parts.append(f"{package}\n\n{text}\n")
    rule = f"\n{'-' * 72}\n\n"
    (FOLDER / "LICENSES.txt").write_text(rule.join(parts), encoding="utf-8")


def _described(modules: Path, package: str) -> dict[str, str]:
    path = modules / _name(package) / "package.json"
    found: dict[str, str] = msgspec.json.decode(path.read_bytes())
    assert found["version"] == package.rpartition("@")[2], package
    return found


def _name(package: str) -> str:
    return package.rpartition("@")[0]


def _node(modules: Path, script: str, *arguments: str, given: str) -> str:
    node = node_program("node")
    assert node is not None
    program = modules / script
    # esbuild replaces its script by a native program.
    command = [str(program)] if program.read_bytes()[:2] != b"#!" else [node, str(program)]
    done = subprocess.run(
        [*command, *arguments],
        input=given,
        capture_output=True,
        check=True,
        cwd=modules.parent,
        encoding="utf-8",
    )
    return done.stdout


if __name__ == "__main__":
    main()
