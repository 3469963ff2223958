"""The whole server dies at any moment (kill -9), again and again, on the same root."""

from pathlib import Path
from random import Random

import pytest

from tests.support.load import PROJECT, WRITERS, Load, state_behind
from tests.support.oracle import LostWriteError, Oracle
from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.stores import archived_texts, assert_files_whole, lines_of
from tests.support.waiting import eventually


def kill_under_load(root: Path, oracle: Oracle, random: Random) -> None:
    """Start the server, judge what it has, let clients write, and kill it somewhere."""
    with ServerProcess(root, key=ADMIN_KEY) as server:
        check(server, oracle)
        moment = random.choice(["at once", "soon", "later", "in a fold", "after a fold"])
        with Load(server, oracle) as load:
            match moment:
                case "soon":
                    load.wait_for(random.randrange(1, 20))
                case "later":
                    load.wait_for(random.randrange(20, 200))
                case "in a fold" | "after a fold":
                    wait_for_fold(root)
                    load.wait_for(0 if moment == "in a fold" else random.randrange(1, 20))
                case _:
                    pass
            server.kill()
    lines_of(store_folder(root, PROJECT) / "entries.jsonl")


def wait_for_fold(root: Path) -> None:
    """Return when a fold is under way, or has just put its file in place."""
    folder = store_folder(root, PROJECT)
    file, staged = folder / "entries.jsonl", folder / "entries.jsonl.tmp"

    def inode() -> int:
        return file.stat().st_ino if file.exists() else 0

    before = inode()
    eventually(lambda: staged.exists() or inode() != before)


def check(server: ServerProcess, oracle: Oracle) -> None:
    oracle.judge(state_behind(server))
    store = server.store(PROJECT)
    assert (store["conflicts"], store["problems"], store["held"]) == (0, 0, False)


def kill_again_and_again(root: Path, kills: int, seed: int) -> None:
    configured(root)
    oracle, random = Oracle(WRITERS), Random(seed)
    for _ in range(kills):
        kill_under_load(root, oracle, random)
    with ServerProcess(root, key=ADMIN_KEY) as server:
        check(server, oracle)
        assert server.stop() == 0
    folder = store_folder(root, PROJECT)
    assert_files_whole(folder)
    assert oracle.deleted <= set(archived_texts(folder))
    assert oracle.acknowledged > 10 * kills


@pytest.mark.fault("F01")
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_answered_is_lost_in_ten_kills_of_the_server(tmp_path: Path, seed: int) -> None:
    kill_again_and_again(tmp_path, 10, seed)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.fault("F01")
def test_nothing_answered_is_lost_in_five_hundred_kills_of_the_server(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, 500, seed=3)


@pytest.mark.fault("F01")
def test_without_its_journal_a_killed_server_has_lost_answered_writes(tmp_path: Path) -> None:
    configured(tmp_path)
    oracle, random = Oracle(WRITERS), Random(4)

    def kill_without_journal() -> None:
        for _ in range(5):
            kill_under_load(tmp_path, oracle, random)
            (store_folder(tmp_path, PROJECT) / ".qms" / "journal.wal").unlink()

    with pytest.raises(LostWriteError):
        kill_without_journal()
