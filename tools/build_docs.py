"""Build the documentation as a static site: `uv run --group docs python tools/build_docs.py`.

The pages of `docs/` and the README are staged with links that stay inside the site, rendered by
zensical, and every link of the result is followed. `site/<version>/` is the site of this version;
`versions.json` beside it lists those that are there, for the selector in the header.
"""

import html.parser
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click

from qms.version import __version__

ROOT = Path(__file__).resolve().parent.parent
HOME = "index.md"
PLACES = {"README.md": HOME, "ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md"}
"""Pages beside `docs/`, and what they are called in the site."""

FOLDERS = {"docs/decisions": "Decisions", "docs/walks": "Walks", "docs/guides": "Guides"}
"""Folders that pages link to; each gets a page that lists its own."""

_LINK = re.compile(r"(?P<mark>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_WORD_OF_TESTS = re.compile(r"\A(```sh) \w+$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_GROUP = re.compile(r"^- \*\*(?P<name>[^*]+)\*\*(?P<links>.*(?:\n  .*)*)", re.MULTILINE)


@click.command()
@click.option("--out", default=str(ROOT / "site"), type=click.Path(path_type=Path))
def main(out: Path) -> None:
    """Build the site and fail if one of its links leads nowhere."""
    broken = build(out)
    for one in broken:
        print(one, file=sys.stderr)
    if broken:
        sys.exit(f"{len(broken)} links of the site lead nowhere")
    print(out / __version__)


def build(out: Path) -> list[str]:
    """Build the site of this version below a folder; return its links that lead nowhere."""
    target = out / __version__
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        stage(folder / "docs")
        (folder / "zensical.toml").write_text(configuration(), encoding="utf-8")
        command = [sys.executable, "-m", "zensical", "build", "--clean"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        shutil.copytree(folder / "site", target, dirs_exist_ok=True)
    list_versions(out)
    return list(broken_links(target))


def stage(folder: Path) -> None:
    """Write every page with links that stay inside the site."""
    shutil.copytree(ROOT / "docs", folder)
    for place, title in FOLDERS.items():
        pages = sorted((ROOT / place).glob("*.md"))
        rows = [f"- [{title_of(page)}]({page.name})" for page in pages]
        path = folder / place.removeprefix("docs/") / HOME
        path.write_text("\n".join([f"# {title}", "", *rows, ""]), encoding="utf-8")
    sources = [*(ROOT / name for name in PLACES), *sorted((ROOT / "docs").rglob("*.md"))]
    for source in sources:
        path = folder / staged(source.relative_to(ROOT).as_posix())
        path.write_text(relinked(source), encoding="utf-8")


def staged(name: str) -> str:
    """Return where a page of the repository is in the site."""
    return PLACES.get(name) or name.removeprefix("docs/")


def relinked(source: Path) -> str:
    """Return a page whose links name places of the site; a link to anything else becomes text."""
    name = source.relative_to(ROOT).as_posix()

    def replace(link: re.Match[str]) -> str:
        path, hash_sign, anchor = link["target"].partition("#")
        if not path or urlsplit(link["target"]).scheme:
            return link[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if there in FOLDERS:
            there = f"{there}/{HOME}"
        elif there not in PLACES and not (there.startswith("docs/") and (ROOT / there).is_file()):
            return link["text"]
        here = posixpath.dirname(staged(name)) or "."
        shown = posixpath.relpath(staged(there), here)
        return f"{link['mark']}[{link['text']}]({shown}{hash_sign}{anchor})"

    parts, end = [], 0
    text = source.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(text):  # what is in a fence is no link
        block = _WORD_OF_TESTS.sub(r"\1", fence[0])
        parts += [_LINK.sub(replace, text[end : fence.start()]), block]
        end = fence.end()
    return "".join([*parts, _LINK.sub(replace, text[end:])])


def title_of(page: Path) -> str:
    """Return the heading of a page."""
    found = _TITLE.search(page.read_text(encoding="utf-8"))
    return found[1] if found else page.stem


def navigation() -> list[dict[str, str | list[dict[str, str]]]]:
    """Return the groups of the README's documentation, as the menu of the site."""
    readme = relinked(ROOT / "README.md").partition("## Documentation")[2]
    groups: list[dict[str, str | list[dict[str, str]]]] = [{"Home": HOME}]
    for group in _GROUP.finditer(readme):
        links = _LINK.finditer(group["links"])
        pages = [{_capitalized(link["text"]): link["target"]} for link in links]
        groups.append({group["name"].strip(" ,:"): pages})
    return groups


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def configuration() -> str:
    """Return the settings of the generator; nothing of the site is fetched from elsewhere."""
    nav = "".join(f"  {_inline(group)},\n" for group in navigation())
    return f"""\
[project]
site_name = "Quick Memory Server"
site_description = "One long-term memory for all your AI agents"
docs_dir = "docs"
site_dir = "site"
use_directory_urls = false
nav = [
{nav}]

[project.theme]
language = "en"
font = false
features = ["navigation.sections", "navigation.top", "search.highlight", "content.code.copy"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark theme"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to light theme"

[project.extra]
generator = false
version.provider = "mike"
"""


def _inline(group: dict[str, str | list[dict[str, str]]]) -> str:
    ((name, value),) = group.items()
    if isinstance(value, str):
        return f"{{ {json.dumps(name)} = {json.dumps(value)} }}"
    pages = ", ".join(_inline(dict(page)) for page in value)
    return f"{{ {json.dumps(name)} = [{pages}] }}"


def list_versions(out: Path) -> None:
    """Write which versions are there, the newest first, and lead the top of the site to it."""
    made = [path.parent.name for path in out.glob("*/index.html")]
    made.sort(key=lambda one: [int(part) for part in re.findall(r"\d+", one)], reverse=True)
    listed = [{"version": one, "title": one, "aliases": []} for one in made]
    (out / "versions.json").write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    page = f'<!doctype html><meta http-equiv="refresh" content="0; url={made[0]}/index.html">\n'
    (out / "index.html").write_text(page, encoding="utf-8")


class _Page(html.parser.HTMLParser):
    """The links and anchors of a page, and what it would fetch from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the anchor of an element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("img", "script", "link") and (place := given.get("src") or given.get("href")):
            self.links.append(place)
            if urlsplit(place).netloc and given.get("rel") != "canonical":
                self.fetched.append(place)


def broken_links(site: Path) -> Iterator[str]:
    """Yield every link of a site that leads to no file or anchor, and what is fetched elsewhere."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(site).as_posix()
        yield from (f"{where}: fetches {one}" for one in page.fetched)
        if path.name == "404.html":
            continue  # its links start at the top of a server
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            anchor = unquote(parts.fragment)
            if not there.is_file():
                yield f"{where}: {link} is not there"
            elif anchor and there in pages and anchor not in pages[there].anchors:
                yield f"{where}: {link} has no such heading"


if __name__ == "__main__":
    main()
