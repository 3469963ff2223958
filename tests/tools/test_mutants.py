"""The mutants fit the code as it is, and the tool tells noticed faults from unnoticed ones."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.mutants import (
    ROOT,
    Mutant,
    Outcome,
    applied,
    copied,
    file_of,
    is_applicable,
    main,
    read_mutants,
    run_tests,
    try_mutant,
)

MUTANTS = read_mutants()

CODE = """
def count(limit):
    done = 0
    while done < limit:
        done += 1
    return done
"""
CHECK = """
from qms.counting import count

def test_it_counts_up_to_the_limit():
    assert count(3) == 3
"""
SETTINGS = "[tool.pytest.ini_options]\naddopts = '-p no:schemathesis -p no:hypothesispytest'\n"

ROWS = """
[[mutant]]
id = "limit"
file = "qms/counting.py"
find = "done < limit"
replace = "done <= limit"
fault = "One too many is counted."
tests = ["tests/test_counting.py"]
"""


def mutant(find: str, replace: str, *tests: str) -> Mutant:
    return Mutant(
        "made-up", "qms/counting.py", find, replace, "It counts wrongly.", list(tests or TESTS)
    )


TESTS = ["tests/test_counting.py::test_it_counts_up_to_the_limit"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": SETTINGS,
        "qms/__init__.py": '"""A made-up package."""\n',
        "qms/counting.py": CODE,
        "tests/test_counting.py": CHECK,
        "tools/mutants/counting.toml": ROWS,
    }
    for name, text in files.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "checkout"


@pytest.mark.parametrize("row", MUTANTS, ids=lambda row: row.id)
def test_a_mutant_fits_the_code_as_it_is(row: Mutant) -> None:
    assert is_applicable(row, ROOT), f"{row.file} does not have the text exactly once"
    assert row.find != row.replace
    changed = (ROOT / row.file).read_text(encoding="utf-8").replace(row.find, row.replace)
    compile(changed, row.file, "exec")
    assert row.fault.endswith(".")


@pytest.mark.parametrize("row", MUTANTS, ids=lambda row: row.id)
def test_the_tests_of_a_mutant_are_there(row: Mutant) -> None:
    assert row.tests
    for node in row.tests:
        text = (ROOT / file_of(node)).read_text(encoding="utf-8")
        name = node.partition("::")[2].partition("[")[0]
        assert not name or f"def {name}(" in text, node


@pytest.mark.parametrize(
    ("find", "replace", "tests", "outcome"),
    [
        ("done < limit", "done <= limit", TESTS, Outcome.KILLED),
        ("done < limit", "done != limit", TESTS, Outcome.SURVIVED),
        ("done", "gone", TESTS, Outcome.NOT_FOUND),
        ("done < limit", "done <= limit", ["tests/test_absent.py"], Outcome.NOT_RUN),
        ("return done", "return (", TESTS, Outcome.NOT_RUN),
    ],
)
def test_a_mutant_is_killed_only_by_a_test_that_ran_and_failed(
    checkout: Path, find: str, replace: str, tests: Sequence[str], outcome: Outcome
) -> None:
    with copied(checkout) as copy:
        assert try_mutant(mutant(find, replace, *tests), copy)[0] is outcome
        assert (copy / "qms" / "counting.py").read_text(encoding="utf-8") == CODE
    assert (checkout / "qms" / "counting.py").read_text(encoding="utf-8") == CODE


def test_a_mutant_whose_tests_never_end_is_killed_by_the_limit(checkout: Path) -> None:
    endless = mutant("done += 1", "done += 0")

    with copied(checkout) as copy:
        assert try_mutant(endless, copy, limit_s=1)[0] is Outcome.TIMED_OUT


def test_a_mutant_of_equal_length_is_not_hidden_by_bytecode(checkout: Path) -> None:
    same_length = mutant("done = 0", "done = 4")

    with copied(checkout) as copy:
        assert run_tests(copy, TESTS, limit_s=60).code == 0
        assert try_mutant(same_length, copy)[0] is Outcome.KILLED
        assert run_tests(copy, TESTS, limit_s=60).code == 0


def test_the_code_is_as_before_after_a_block_that_failed(checkout: Path) -> None:
    with pytest.raises(KeyboardInterrupt), applied(mutant("done = 0", "done = 1"), checkout):
        raise KeyboardInterrupt

    assert (checkout / "qms" / "counting.py").read_text(encoding="utf-8") == CODE


def test_the_exit_code_says_whether_all_were_killed(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], root=checkout) == 0
    assert capsys.readouterr().out == "killed: limit\n1 killed, 0 survived\n"

    rows = checkout / "tools" / "mutants" / "counting.toml"
    rows.write_text(ROWS.replace("<=", "!="), encoding="utf-8")
    assert main(["--only", "limit"], root=checkout) == 1
    assert capsys.readouterr().out.endswith("0 killed, 1 survived\n")


def test_nothing_is_tried_while_the_tests_fail_by_themselves(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "tests" / "test_counting.py").write_text(f"{CHECK}\n    assert False\n", "utf-8")

    assert main([], root=checkout) == 1
    assert capsys.readouterr().out.endswith("nothing was tried\n")


def test_the_list_says_what_goes_wrong(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"], root=checkout) == 0
    assert capsys.readouterr().out == "limit: qms/counting.py: One too many is counted.\n"


def test_an_unknown_id_is_refused(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "absent"], root=checkout)
    assert "no mutant has the id absent" in capsys.readouterr().err


def test_an_id_that_stands_for_two_mutants_is_refused(checkout: Path) -> None:
    (checkout / "tools" / "mutants" / "again.toml").write_text(ROWS, encoding="utf-8")

    with pytest.raises(ValueError, match="limit"):
        read_mutants(checkout)
