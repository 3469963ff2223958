import json
import threading
from pathlib import Path

import pytest

from qms.app.process import Order, Outcome, Phase, ServerHost, Watcher
from qms.app.service_facts import UNEXPECTED
from qms.config.addresses import ListenAddress
from qms.memory.errors import ConflictError
from tests.support.server import configured

ANY_PORT = ListenAddress("http", "127.0.0.1", 0)
BOUND_S = 60.0


class Notes(Watcher):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.turns: set[Phase] = set()

    def entered(self, phase: Phase) -> None:
        self.phases.append(phase)

    def turned(self, phase: Phase) -> None:
        self.turns.add(phase)


def ended(host: ServerHost) -> Outcome:
    outcome = host.wait(BOUND_S)
    assert outcome is not None
    return outcome


def test_a_watcher_hears_every_phase_in_its_order(tmp_path: Path) -> None:
    notes = Notes()
    host = ServerHost(Order(root=configured(tmp_path), address=ANY_PORT), watcher=notes)
    host.start()
    assert host.wait_until(Phase.READY, BOUND_S)
    host.stop()

    assert ended(host) == Outcome(0)
    assert notes.phases == [
        Phase.STARTING, Phase.LOADING, Phase.READY, Phase.STOPPING, Phase.STOPPED,
    ]  # fmt: skip
    assert Phase.READY in notes.turns


def test_a_server_is_ready_only_when_every_store_is_open_or_known_to_be_broken(
    tmp_path: Path,
) -> None:
    root = configured(tmp_path)
    (root / "MemoryStores").mkdir()
    (root / "MemoryStores" / "projA").write_text("no folder", encoding="utf-8")
    said: list[str] = []
    host = ServerHost(Order(root=root, address=ANY_PORT), echo=said.append)
    host.start()

    assert host.wait_until(Phase.READY, BOUND_S)
    assert host.phase is Phase.READY
    assert [line.partition(":")[0] for line in said] == ["listening"]
    host.stop()
    assert ended(host).exit_code == 0


def test_a_stop_that_comes_before_the_server_is_up_ends_it_at_once(tmp_path: Path) -> None:
    host = ServerHost(Order(root=configured(tmp_path), address=ANY_PORT))
    host.stop()
    host.start()

    assert ended(host) == Outcome(0)


def test_a_root_that_somebody_owns_gives_the_exit_code_of_the_console(tmp_path: Path) -> None:
    owner = ServerHost(Order(root=configured(tmp_path), address=ANY_PORT))
    owner.start()
    owner.wait_until(Phase.LOADING, BOUND_S)
    second = ServerHost(Order(root=tmp_path, address=ANY_PORT))
    second.start()

    outcome = ended(second)

    assert outcome.exit_code == ConflictError.exit_code
    assert "in use by process" in outcome.reason
    assert second.wait_until(Phase.READY, 0), "whoever waits for it hears of its end"
    owner.stop()
    assert ended(owner).exit_code == 0


def test_with_logs_at_once_the_file_says_why_a_root_was_not_served(tmp_path: Path) -> None:
    configured(tmp_path, "[global]\nlisten = 5\n")
    host = ServerHost(Order(root=tmp_path, logs_at_once=True))
    host.start()

    assert ended(host).exit_code == 2
    *_, last = (tmp_path / "logs" / "qms.log").read_text(encoding="utf-8").splitlines()
    record = json.loads(last)
    assert record["message"] == "not served"
    assert "line 2" in record["traceback"][-1]


def test_a_log_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    configured(tmp_path)
    (tmp_path / "logs").write_text("no folder", encoding="utf-8")
    host = ServerHost(Order(root=tmp_path, logs_at_once=True))
    host.start()

    outcome = ended(host)

    assert (outcome.exit_code, "qms.log cannot be written" in outcome.reason) == (6, True)


def test_an_error_that_nobody_foresaw_is_an_outcome_too(tmp_path: Path) -> None:
    class Broken(Watcher):
        def entered(self, phase: Phase) -> None:
            if phase is Phase.STARTING:
                raise RuntimeError("broken")

    host = ServerHost(Order(root=configured(tmp_path)), watcher=Broken())
    host.start()

    outcome = ended(host)

    assert (outcome.exit_code, outcome.reason) == (
        UNEXPECTED,
        "unexpected RuntimeError, see the log",
    )


def test_a_server_ends_when_its_thread_has_and_leaves_none(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    host = ServerHost(Order(root=configured(tmp_path), address=ANY_PORT))
    host.start()
    host.wait_until(Phase.READY, BOUND_S)
    host.stop()
    ended(host)

    left = [one for one in threading.enumerate() if one not in before and one.name == "server"]
    for thread in left:
        thread.join(BOUND_S)

    assert not any(thread.is_alive() for thread in left)


@pytest.mark.parametrize("phase", list(Phase))
def test_a_watcher_that_does_not_care_takes_everything(phase: Phase) -> None:
    watcher = Watcher()
    watcher.entered(phase)
    watcher.turned(phase)
