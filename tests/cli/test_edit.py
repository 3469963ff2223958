import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Result, Terminal
from tests.support.environment import Environment

REPLACE = """\
import pathlib, sys
path = pathlib.Path(sys.argv[-1])
old, new = sys.argv[1:3]
text = path.read_text(encoding="utf-8")
assert old in text, text
path.write_text(text.replace(old, new), encoding="utf-8")
"""


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """A script that stands in for a person's editor, in a folder with a space in its name."""
    folder = tmp_path / "my editor"
    folder.mkdir()
    return folder / "edit.py"


def use(environment: Environment, editor: Path, script: str, *words: str) -> None:
    """Make a script the editor."""
    editor.write_text(script, encoding="utf-8")
    environment["EDITOR"] = shlex.join([sys.executable, str(editor), *words])


def kept_text(result: Result) -> str:
    """Return the text that an edit left behind, and remove it."""
    found = re.search(r"hint: your text is kept in (.+)\n", result.err)
    assert found is not None, result.err
    path = Path(found[1])
    text = path.read_text(encoding="utf-8")
    path.unlink()
    path.parent.rmdir()
    return text


def test_what_the_editor_saves_is_stored(
    ctl: Terminal, editor: Path, environment: Environment
) -> None:
    ctl.remember("old text", "--id", "a", "--tag", "x")
    use(environment, editor, REPLACE, "old text", "new text")

    result = ctl.ok("edit", "a")

    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert result.line == "default:a"
    assert entry["body"] == {"text": "new text"}
    assert entry["tags"] == ["x"]


def test_edit_prints_the_object_that_the_api_answers(
    ctl: Terminal, editor: Path, environment: Environment
) -> None:
    ctl.remember("old", "--id", "a")
    use(environment, editor, REPLACE, '"old"', '"new"')

    printed = ctl.ok("edit", "a", "--json").json

    assert (printed["id"], printed["updated"]) == ("default:a", True)
    assert printed["version"] == ctl.api("default", "getEntry", id="a")["version"]


def test_visual_comes_before_editor(ctl: Terminal, editor: Path, environment: Environment) -> None:
    ctl.remember("old", "--id", "a")
    use(environment, editor, REPLACE, '"old"', '"new"')
    environment["VISUAL"] = f'"{sys.executable}" -c ""'

    assert "nothing was changed" in ctl.ok("edit", "a").err


def test_an_unchanged_text_writes_nothing(
    ctl: Terminal, editor: Path, environment: Environment
) -> None:
    ctl.remember("text", "--id", "a")
    before = ctl.ok("get", "a", "--json").json
    use(environment, editor, "")

    assert "nothing was changed" in ctl.ok("edit", "a").err
    assert ctl.ok("get", "a", "--json").json == before


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('"text": "text"', '"text": ', "entry"),
        ('"kind": "note"', '"kind": "song"', "kind"),
        ('"id": "default:a"', '"id": "default:b"', "id"),
    ],
)
def test_a_text_that_cannot_be_stored_is_kept_in_a_file(
    ctl: Terminal, editor: Path, environment: Environment, old: str, new: str, field: str
) -> None:
    ctl.remember("text", "--id", "a")
    use(environment, editor, REPLACE, old, new)

    result = ctl("edit", "a")

    assert result.code == 2
    assert f"error: {field}: " in result.err
    assert new in kept_text(result)
    assert ctl.ok("get", "a", "--json").json["entry"]["body"] == {"text": "text"}


@pytest.mark.attack(74)
def test_a_change_made_meanwhile_is_never_overwritten(
    ctl: Terminal, editor: Path, environment: Environment
) -> None:
    ctl.remember("text", "--id", "a")
    meanwhile = f"""
import subprocess, sys
subprocess.run([sys.executable, "-m", "qms.cli.main", "update", "a", "--title", "theirs"],
               check=True, env={{**__import__("os").environ, "PYTHONWARNDEFAULTENCODING": "0"}})
{REPLACE}
"""
    use(environment, editor, meanwhile, '"text": "text"', '"text": "mine"')

    result = ctl("edit", "a")

    assert result.code == 5
    assert '"mine"' in kept_text(result)
    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert (entry["title"], entry["body"]) == ("theirs", {"text": "text"})


def test_an_editor_that_fails_changes_nothing(
    ctl: Terminal, editor: Path, environment: Environment
) -> None:
    ctl.remember("text", "--id", "a")
    use(environment, editor, f"{REPLACE}\nraise SystemExit(3)", '"text": "text"', '"text": "x"')

    result = ctl("edit", "a")

    assert result.code == 6
    assert "status 3" in result.err
    assert '"x"' in kept_text(result)
    assert ctl.ok("get", "a", "--json").json["entry"]["body"] == {"text": "text"}


@pytest.mark.parametrize("command", ["no-such-editor --wait", "'"])
def test_an_editor_that_is_not_there_is_named_and_no_file_is_left(
    ctl: Terminal,
    environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
) -> None:
    ctl.remember("text", "--id", "a")
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(drafts))
    environment["EDITOR"] = command

    result = ctl("edit", "a")

    assert result.code in (2, 6)
    assert "edit" in result.err.lower()
    assert list(drafts.iterdir()) == []


def test_the_shell_never_sees_the_editors_words(
    ctl: Terminal, tmp_path: Path, environment: Environment
) -> None:
    ctl.remember("text", "--id", "a")
    trap = tmp_path / "trap"
    environment["EDITOR"] = f"{shlex.quote(sys.executable)} -c '' ; touch {trap}"

    ctl("edit", "a")

    assert not trap.exists()


def test_a_warning_of_the_server_is_printed(
    ctl: Terminal, editor: Path, environment: Environment
) -> None:
    ctl.remember("text", "--id", "a")
    relation = '"relations": [{"type": "ref", "targetId": "default:gone"}], "kind"'
    use(environment, editor, REPLACE, '"kind"', relation)

    assert "warning: relations: 1 of the targets" in ctl.ok("edit", "a").err


def test_the_draft_is_pretty_json_without_hidden_characters(
    ctl: Terminal, editor: Path, tmp_path: Path, environment: Environment
) -> None:
    ctl.remember("a\u202eb", "--id", "a")
    copy = tmp_path / "copy.json"
    use(environment, editor, "import shutil, sys; shutil.copy(sys.argv[2], sys.argv[1])", str(copy))

    ctl.ok("edit", "a")

    text = copy.read_text(encoding="utf-8")
    assert json.loads(text)["body"] == {"text": "a\u202eb"}
    assert "\\u202e" in text
    assert text.startswith('{\n  "schemaVersion": 1,\n  "id": "default:a",\n')
