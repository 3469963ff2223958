"""Everything in a new root is for its owner alone, or for one group, under any umask."""

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.rights import a_group, too_open
from tests.support.server import ADMIN_KEY, ServerProcess, configured
from tests.support.waiting import eventually

pytestmark = [pytest.mark.attack(88)]

TEXT = (
    '[global]\ngroup = "{group}"\n[global.embedding]\nmodel = "hash"\n'
    '[endpoint.projA]\nslug = "projA"\n'
    f'[users.admin]\ntier = "admin"\napiKey = "{ADMIN_KEY}"\n'
)


OTHERWISE = {"QuickMemoryServer.toml", "meta.json", ".managed.json"}
"""The person's own file, and two that tantivy makes for their owner alone: nobody edits them."""


def under_umask(root: Path, umask: str, key: str = "") -> ServerProcess:
    shell = ("sh", "-c", f'umask {umask}; exec "$@"', "sh")
    return ServerProcess(root, "--port", "0", key=key, before=shell)


def use(server: ServerProcess, project: str) -> None:
    """Store, search, delete and back up, so that every kind of file is made."""
    for local in ("kept", "gone"):
        entry = {"id": local, "kind": "note", "body": f"the {local} entry"}
        server.call(project, "upsertEntry", entry=entry)
    server.call(project, "searchEntries", query={"text": "kept"})
    server.call(project, "recall", context="the kept entry")
    server.call(project, "deleteEntry", id="gone")
    eventually(lambda: server.store(project)["embeddingBacklog"] == 0)
    made = server.root / "Backups" / server.call(project, "backupStore")["backupId"] / project
    eventually(made.is_dir)


@pytest.mark.parametrize("umask", ["022", "000"])
def test_a_new_root_is_for_its_owner_alone(tmp_path: Path, umask: str) -> None:
    root = tmp_path / "new" / "root"
    with under_umask(root, umask) as server:
        use(server, "shared")
        assert too_open(root) == []
        assert server.stop() == 0
    assert too_open(root) == []
    made = {path.suffix for path in root.rglob("*")}
    assert made >= {".toml", ".jsonl", ".wal", ".log", ".store", ".dat"}
    exported = root / "export.jsonl"
    export = ("export", "--project", "shared", "--output", str(exported), "--root", str(root))
    command = [sys.executable, "-m", "qms.cli.main", *export]
    shell = ["sh", "-c", f'umask {umask}; exec "$@"', "sh", *command]
    done = subprocess.run(shell, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert exported.exists()
    assert too_open(root) == []


def test_the_look_at_rights_finds_an_open_file(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o640)

    assert too_open(tmp_path) == ["file 640"]


def test_with_a_group_its_members_can_edit_what_the_server_made(tmp_path: Path) -> None:
    group = a_group()
    root = configured(tmp_path / "root", TEXT.format(group=group.gr_name))
    with under_umask(root, "077", ADMIN_KEY) as server:
        use(server, "projA")
        key = root / ".qms" / "local-key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        assert server.stop() == 0

    made = [path for path in (root, *root.rglob("*")) if path.name not in OTHERWISE]
    wrong = {
        f"{path.relative_to(root)} {stat.S_IMODE(path.stat().st_mode):o} {path.stat().st_gid}"
        for path in made
        if path.stat().st_gid != group.gr_gid
        or stat.S_IMODE(path.stat().st_mode) != (0o2770 if path.is_dir() else 0o660)
    }
    assert wrong == set()


def test_a_root_that_others_can_read_is_reported_and_left_as_it_is() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        root = configured(Path(folder) / "root", TEXT.format(group=""))
        root.chmod(0o755)
        with ServerProcess(root, "--port", "0", key=ADMIN_KEY) as server:
            command = f"chmod -R go-rwx '{root}'"
            (problem,) = server.call("projA", "health")["problems"]
            assert (problem["code"], command in problem["reason"]) == ("rootRights", True)
            assert stat.S_IMODE(root.stat().st_mode) == 0o755
            assert "others can read the root" in server.errors

            subprocess.run(command, shell=True, check=True)
            assert server.call("projA", "health")["problems"] == []
            assert server.stop() == 0
