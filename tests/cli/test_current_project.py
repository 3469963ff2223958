from pathlib import Path

import pytest

from qms.cli.current_project import guess_project, names_of


def repository(folder: Path, config: str) -> Path:
    """Make a folder that git would take for a repository with this configuration."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(config, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example/team/Widget.git",
        "git@git.example:team/Widget.git",
        "git@git.example:Widget",
        "ssh://git@git.example:22/team/Widget/",
        "../Widget.git",
        "C:\\\\repositories\\\\Widget.git",
        "Widget",
    ],
)
def test_the_remote_names_the_project(tmp_path: Path, url: str) -> None:
    config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs\n'
    folder = repository(tmp_path / "clone", config) / "deep" / "inside"
    folder.mkdir(parents=True)

    assert guess_project(folder, ["default", "widget"]) == "widget"


def test_origin_comes_before_other_remotes_and_the_folder_last(tmp_path: Path) -> None:
    config = '[remote "fork"]\nurl = x/fork\n[remote "origin"]\nurl = x/main\n[branch "b"]\nurl=z\n'

    assert names_of(repository(tmp_path / "clone", config)) == ["main", "fork", "clone"]


def test_a_folder_outside_git_is_its_own_name(tmp_path: Path) -> None:
    folder = tmp_path / "Widget"
    folder.mkdir()

    assert guess_project(folder, ["widget"]) == "widget"


def test_what_matches_nothing_is_the_default_project(tmp_path: Path) -> None:
    assert guess_project(tmp_path, ["widget"]) == "default"


def test_a_worktree_has_the_remote_of_its_repository(tmp_path: Path) -> None:
    main = repository(tmp_path / "main", '[remote "origin"]\nurl = x/widget.git\n')
    private = main / ".git" / "worktrees" / "side"
    private.mkdir(parents=True)
    (private / "commondir").write_text("../..\n", encoding="utf-8")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {private}\n", encoding="utf-8")

    assert names_of(side) == ["widget", "side"]


@pytest.mark.parametrize("config", ["", "no section", '[remote "origin"]\nurl =\n', "\x00\xff"])
def test_a_configuration_without_a_remote_leaves_the_folder(tmp_path: Path, config: str) -> None:
    assert names_of(repository(tmp_path / "clone", config)) == ["clone"]


def test_a_broken_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("nonsense", encoding="utf-8")

    assert names_of(tmp_path) == [tmp_path.name]
