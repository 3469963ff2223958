"""memoryctl config, on a server and on files."""

from pathlib import Path

from tests.cli.conftest import Terminal


def test_a_configuration_is_valid_or_its_line_is_named(files: Terminal, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("[global]\nlisten = 5\n", encoding="utf-8")

    refused = files("config", "validate", str(bad))

    assert files.ok("config", "validate", "--json").json["valid"]
    assert refused.code == 2
    assert "line 2" in refused.err


def test_the_configuration_is_shown_without_a_key(ctl: Terminal) -> None:
    shown = ctl.ok("config", "show").out

    assert "[users.admin]" in shown
    assert ctl.key not in shown
