"""Makes and reads a small root with the server of any checkout, over HTTP: imports nothing of qms.

    uv run python tools/earlier_root.py make CHECKOUT tests/data/earlier_root/root.zip
    uv run python tools/earlier_root.py read CHECKOUT ROOT

`make` leads a short life with the server of a checkout and packs the root, with what that server
said of it (`said.json`). `read` prints what the server of a checkout says of a root.
"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KEY = "qms_key_of_the_admin_for_tests"
PROJECT = "projA"
IDS = [f"{PROJECT}:{name}" for name in ("fact", "note", "steps", "gone", "twice", "by-hand")]
SAID = "said.json"

CONFIGURATION = f"""\
[global.embedding]
model = "hash"
[endpoint.{PROJECT}]
slug = "{PROJECT}"
toolsets = ["core", "lifecycle", "system"]
[users.admin]
tier = "admin"
keys = [{{ id = "test", sha256 = "{hashlib.sha256(KEY.encode()).hexdigest()}" }}]
"""

PROPOSAL = {
    "entryId": f"{PROJECT}:note",
    "kind": "tags",
    "model": "m",
    "proposedUtc": "2026-03-01T12:00:00Z",
    "tags": ["proposed"],
}
"""As a language model leaves it; none is needed to make this root."""

_LEFT_OUT = {"lock", "local-key", "qms.log"}

Call = Callable[..., Any]


@contextlib.contextmanager
def serving(checkout: Path, root: Path) -> Iterator[Call]:
    """Run the server of a checkout on a root; yield a function that sends it a request."""
    server = subprocess.Popen(
        [_python(checkout), "-m", "qms.cli.server", "serve", "--root", str(root), "--port", "0"],
        cwd=checkout,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": str(checkout), "ORT_DISABLE_TELEMETRY": "1"},
    )
    assert server.stdout is not None
    try:
        line = next(line for line in server.stdout if line.startswith("listening:"))
        yield _caller(line.split()[1])
    finally:
        server.terminate()
        assert server.wait(60) == 0, "the server did not stop in order"
        server.stdout.close()


def _python(checkout: Path) -> str:
    own = checkout / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def _caller(url: str) -> Call:
    def call(path: str, **content: Any) -> Any:
        data = json.dumps(content).encode() if content or path.startswith("/api") else None
        headers = {"X-Api-Key": KEY, "Content-Type": "application/json"}
        request = urllib.request.Request(url.rstrip("/") + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()}") from None

    return call


def live(call: Call, folder: Path) -> None:
    """Write entries, an archive, backups, a hand edit and uses."""
    api = f"/api/v1/{PROJECT}/"
    bodies: dict[str, dict[str, Any]] = {
        "fact": {"kind": "fact", "title": "Kestrels", "body": {"statement": "They hover"}},
        "note": {"kind": "note", "body": "the harbour is closed on Sundays", "tags": ["ü", "x"]},
        "steps": {"kind": "procedure", "title": "Tie", "body": {"steps": ["loop", "pull"]}},
        "gone": {"kind": "note", "body": "goes to the archive"},
        "twice": {"kind": "note", "body": "said once", "metadata": {"unknown": [1, 2.5]}},
    }
    for name, entry in bodies.items():
        call(api + "upsertEntry", entry={"id": f"{PROJECT}:{name}", **entry})
    call(api + "linkEntries", sourceId=IDS[0], targetId=IDS[1], type="relatedTo")
    _back_up(call, "full")
    call(api + "deleteEntry", id=IDS[3])
    call(api + "upsertEntry", entry={"id": IDS[4], "kind": "note", "body": "said twice"})
    _back_up(call, "differential")
    call(api + "recall", context="harbour on Sundays")
    _edit_by_hand(call, folder)


def _back_up(call: Call, mode: str) -> None:
    made = call(f"/api/v1/{PROJECT}/backupStore", mode=mode)["backupId"]
    _wait(lambda: made in [one["id"] for one in call("/admin/backups")["items"]])


def _edit_by_hand(call: Call, folder: Path) -> None:
    call(f"/api/v1/{PROJECT}/listEntries")
    path = folder / "entries.jsonl"
    _wait(lambda: b"said twice" in path.read_bytes())
    line = {"schemaVersion": 1, "id": IDS[5], "project": PROJECT, "kind": "note"}
    line["body"] = {"text": "typed by a person"}
    with path.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n{ broken by hand\n")
    _wait(lambda: IDS[5] in [one["id"] for one in _listed(call)])


def _listed(call: Call) -> list[Any]:
    items: list[Any] = call(f"/api/v1/{PROJECT}/listEntries")["items"]
    return items


def _rows(answer: Any) -> list[Any]:
    return next(value for value in answer.values() if isinstance(value, list))


def _wait(condition: Callable[[], object], limit_s: float = 60) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the server did not follow in time")
        time.sleep(0.05)


def said_of(call: Call) -> dict[str, Any]:
    """Return what a server says of the root: everything that must not be lost."""
    api = f"/api/v1/{PROJECT}/"
    ids = sorted(one["id"] for one in _listed(call))
    backups = call("/admin/backups")["items"]
    verified = [
        call(f"/admin/backups/{PROJECT}/{one['id']}/verify", id=one["id"]) for one in backups
    ]
    found = call(api + "searchEntries", query={"text": "harbour"})["results"][0]
    return {
        "entries": {one: call(api + "getEntry", id=one)["entry"] for one in ids},
        "archive": [[one["id"], one["reason"]] for one in _rows(call(api + "listArchive"))],
        "versions": {one: len(_rows(call(api + "history", id=one))) for one in IDS},
        "backups": [[one["id"], one["mode"], one["entries"]] for one in backups],
        "verified": len(verified),
        "proposals": [one.get("tags") for one in _rows(call(api + "listProposals"))],
        "found": found.get("id") or found["entry"]["id"],
        "problems": [one.get("line") for one in _rows(call(api + "listProblems"))],
    }


def make(checkout: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "root"
        root.mkdir()
        (root / "QuickMemoryServer.toml").write_text(CONFIGURATION, encoding="utf-8")
        with serving(checkout, root) as call:
            _wait(lambda: call(f"/api/v1/{PROJECT}/health")["status"] != "Loading")
            live(call, root / "MemoryStores" / PROJECT)
            version = call(f"/api/v1/{PROJECT}/getEntry", id=PROPOSAL["entryId"])["version"]
        own = root / "MemoryStores" / PROJECT / ".qms"
        text = json.dumps([{**PROPOSAL, "version": version}])
        (own / "proposals.json").write_text(text, encoding="utf-8")
        with serving(checkout, root) as call:
            said = said_of(call)
        (root / SAID).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
        _pack(root, target)


def _pack(root: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.name not in _LEFT_OUT:
                archive.write(path, path.relative_to(root))


def main() -> None:
    verb, checkout, path = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3])
    if verb == "make":
        make(checkout, path)
        return
    with serving(checkout, path) as call:
        print(json.dumps(said_of(call), indent=1))


if __name__ == "__main__":
    main()
