"""The documentation as a site: every page is there, and every link leads somewhere."""

import json
import re
from pathlib import Path

import pytest

from qms.version import __version__
from tests.house.pages import ROOT
from tools.build_docs import PLACES, broken_links, build, list_versions, navigation, relinked


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    assert build(out) == []
    return out


def test_every_page_is_there(site: Path) -> None:
    pages = {
        path.relative_to(ROOT / "docs").with_suffix(".html") for path in ROOT.glob("docs/**/*.md")
    }
    made = {path.relative_to(site / __version__) for path in (site / __version__).rglob("*.html")}

    assert pages | {Path("index.html"), Path("architecture.html")} <= made


def test_no_fence_is_shown_as_text(site: Path) -> None:
    shown = [path.name for path in site.rglob("*.html") if "<p>```" in path.read_text("utf-8")]

    assert shown == []


def test_the_search_knows_the_pages(site: Path) -> None:
    index = json.loads((site / __version__ / "search.json").read_text(encoding="utf-8"))

    assert "memoryctl.html" in json.dumps(index)


def test_the_menu_leads_to_every_page_that_is_no_decision_or_walk() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", json.dumps(navigation())))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    wanted = {page for page in pages if not page.startswith(("decisions/", "walks/"))}

    assert wanted - listed == {"contributing.md", "security.md"}  # linked at the end of the README
    assert listed <= pages | set(PLACES.values()) | {"decisions/index.md"}


def test_the_versions_are_listed_newest_first(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()

    list_versions(tmp_path)

    listed = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert [one["version"] for one in listed] == ["0.10.0", "0.9.0"]
    assert "url=0.10.0/" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_a_link_out_of_the_site_becomes_text() -> None:
    page = relinked(ROOT / "README.md")

    assert "](docs/" not in page
    assert "Licence: Apache-2.0." in page


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="gone.html">x</a>', "gone.html is not there"),
        ('<a href="#gone">x</a>', "#gone has no such heading"),
        ('<a href="other.html#gone">x</a>', "other.html#gone has no such heading"),
        ('<img src="https://elsewhere.example/x.png">', "fetches https://elsewhere.example/x.png"),
    ],
)
def test_what_leads_nowhere_is_found(tmp_path: Path, body: str, problem: str) -> None:
    (tmp_path / "page.html").write_text(f"<h1 id='here'>x</h1>{body}", encoding="utf-8")
    (tmp_path / "other.html").write_text("<a href='page.html#here'>x</a>", encoding="utf-8")

    assert list(broken_links(tmp_path)) == [f"page.html: {problem}"]
