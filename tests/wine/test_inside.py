"""What runs as a Windows process: the service controller and the store, with Windows Python.

The product is the installed tree, the tests are these files; numpy is the one that wine can run.
"""

import re
from pathlib import Path

from tests.wine.machine import Ended, WindowsMachine

DISK_TESTS = "tests/disk"
CONTRACT = "tests/platforms/contract"
OWN = ("tests/wine/inside/sharing.py", "tests/wine/inside/places.py")
SHARING = "tests/faults/test_windows_sharing.py"
OF_THE_STORE = (
    *(
        f"{DISK_TESTS}/test_{name}.py"
        for name in ("disk", "permissions", "regular_files", "root_lock")
    ),
    "tests/faults/test_encodings.py",
    SHARING,
    # It stands for a process that was killed, which here still has the file open.
    f"--deselect={SHARING}::test_a_fold_that_cut_the_journal_all_the_same_would_lose_the_write",
)


def check(ended: Ended, least: int) -> None:
    """Check that all tests passed, and not fewer than there must be."""
    assert ended.code == 0, ended.output
    # Wine may complain of a missing screen behind pytest's last line.
    summary = re.search(r"^(\d+) passed", ended.output, re.MULTILINE)
    assert summary is not None, ended.output
    assert int(summary[1]) >= least, ended.output


def test_the_service_controller_keeps_its_contract_with_windows(
    machine: WindowsMachine, test_packages: Path
) -> None:
    ended = machine.pytest(test_packages, "--noconftest", "-k", "windows", CONTRACT)

    check(ended, least=5)


def test_the_store_stands_what_windows_does_to_its_files(
    machine: WindowsMachine, test_packages: Path
) -> None:
    share = machine.make_share("testhost", "memories")

    check(machine.pytest(test_packages, *OWN, QMS_TEST_SHARE=share), least=18)


def test_the_tests_of_the_store_that_concern_windows_pass_there(
    machine: WindowsMachine, test_packages: Path
) -> None:
    check(machine.pytest(test_packages, *OF_THE_STORE), least=50)


def test_the_walls_of_a_worker_stand_as_far_as_wine_has_them(
    machine: WindowsMachine, test_packages: Path
) -> None:
    check(machine.pytest(test_packages, "--noconftest", "tests/wine/inside/walls.py"), least=7)
