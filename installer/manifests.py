"""Writes the winget and Homebrew manifests of a release: `uv run python -m installer.manifests`.

    python -m installer.manifests --base URL --setup FILE --wheel FILE [--out DIR]

`--base` is where the release's files will be downloaded from. Hashes and version come from the
files themselves, so that a manifest fits the release that it was made from.
"""

import re
from pathlib import Path
from string import Template

import click

from installer.wheels import sha256

IDENTIFIER = "QuickMemoryServer.QuickMemoryServer"
TEMPLATES = Path(__file__).with_name("templates")
WINGET = ("version", "installer", "locale.en-US")

_WHEEL = re.compile(r"quick_memory_server-(?P<version>[^-]+)-py3-none-any\.whl")


@click.command()
@click.option("--base", required=True, help="URL of the folder with the release's files.")
@click.option("--setup", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--wheel", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", default="dist/manifests", type=click.Path(path_type=Path))
def main(base: str, setup: Path, wheel: Path, out: Path) -> None:
    """Write the manifests of a release."""
    for path in write(base, setup, wheel, out):
        print(path)


def write(base: str, setup: Path, wheel: Path, out: Path) -> list[Path]:
    """Write all manifests below a folder and return their paths.

    Raises:
        ValueError: the wheel is not one of this product, or the URL is not https.
    """
    named = _WHEEL.fullmatch(wheel.name)
    if named is None or not re.fullmatch(r"https://[\w./~+-]+", base):
        raise ValueError(f"not a wheel of this product or no https URL: {wheel.name}, {base}")
    values = {
        "identifier": IDENTIFIER,
        "version": named["version"],
        "base": base.rstrip("/"),
        "setup": setup.name,
        "setup_sha256": sha256(setup).upper(),
        "wheel": wheel.name,
        "wheel_sha256": sha256(wheel),
    }
    short = IDENTIFIER[0].lower()
    place = out / "winget" / short / IDENTIFIER.replace(".", "/") / named["version"]
    made = {
        place / f"{IDENTIFIER}{'' if part == 'version' else f'.{part}'}.yaml": f"winget.{part}.yaml"
        for part in WINGET
    }
    made[out / "homebrew" / "quick-memory-server.rb"] = "quick-memory-server.rb"
    for path, template in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        path.write_text(Template(text).substitute(values), encoding="utf-8", newline="\n")
    return list(made)


if __name__ == "__main__":
    main()
