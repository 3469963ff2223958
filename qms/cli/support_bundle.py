"""`memoryctl support-bundle`: pack diagnostics into one archive without secrets.

It contains no memory: no body, no title, no tag. Everything that looks like a secret is removed
from every text, and so is every key that this machine stores.
"""

import io
import json
import os
import platform
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import msgspec

from qms.auth.local_key import LOCAL_KEY_PLACE
from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.doctor import examine
from qms.cli.instants import now
from qms.cli.key_file import KEY_PLACE
from qms.cli.target import Asked, checked_root, open_session
from qms.config.masked import masked, masks_of
from qms.config.root import CONFIGURATION_NAME
from qms.config.toml_file import parse
from qms.memory.errors import InvalidInputError, QmsError, UnavailableError, invalid
from qms.telemetry.log_tail import tail
from qms.telemetry.logs import LOG_PLACE, clean
from qms.text.secrets import REDACTED, redacted, without_secrets
from qms.version import __version__

LOG_LINES = 5000
MAX_FILES = 2000

_OWNER_ONLY = 0o600
_DISTRIBUTION = "quick-memory-server"
_LOGIN = re.compile(r"(://)[^/\s:@]+:[^/\s@]+@")
_PLAIN_KEY = re.compile(r"""^[ \t]*apiKey\s*=\s*["']([^"'\n]+)["']""", re.MULTILINE)
_NAME = re.compile(r"^[ \t]*(\[[^\]\n]*\]|[\w.-]+[ \t]*=)", re.MULTILINE)
_AFTER_NAME = re.compile(r"[^\w.-]")


@click.command("support-bundle", cls=Verb, example="memoryctl support-bundle --output bundle.zip")
@click.option(
    "--output",
    "target",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="File to write [qms-support-TIME.zip in this folder].",
)
@shared_options
def support_bundle(asked: Asked, target: Path | None) -> None:
    """Collect diagnostics in a zip file: versions, health, checks, settings, log; no secrets."""
    if asked.url is not None:
        raise invalid("url", "support-bundle reads local files: run it there, with --root")
    root = checked_root(asked)
    target = target or Path(f"qms-support-{now():%Y%m%dT%H%M%S}.zip")
    parts = dict(_parts(root, asked))
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_packed(parts, _secrets_of(root)))
    except OSError as error:
        raise UnavailableError(f"{target}: {error.strerror or error}") from error
    if asked.as_json:
        output.answer({"path": str(target), "parts": list(parts)})
    else:
        output.line(str(target))
    output.note("it contains no memories and no keys; check it before you share it")


def _parts(root: Path, asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield the files of the bundle; one that cannot be made contains the reason."""
    makers: dict[str, Callable[[], Any]] = {
        "about.json": _about,
        "health.json": lambda: _health(asked),
        "doctor.json": lambda: msgspec.to_builtins(list(examine(root, asked))),
        "files.json": lambda: list(_files(root)),
        "configuration.toml": lambda: _configuration(root),
        "log.jsonl": lambda: _log(root),
    }
    for name, make in makers.items():
        try:
            made = make()
        except (QmsError, OSError, UnicodeDecodeError) as error:
            made = f"not available: {error}\n"
        yield name, made if isinstance(made, str) else output.json_text(made) + "\n"


def _packed(parts: dict[str, str], secrets: list[str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, _scrubbed(text, secrets))
    return packed.getvalue()


def _scrubbed(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    text = _LOGIN.sub(rf"\1{REDACTED}@", text)
    return "\n".join(clean(without_secrets(line)) for line in text.split("\n"))


def _secrets_of(root: Path) -> list[str]:
    """Return every plain-text key on this machine: those of the root and of the model."""
    found = [os.environ.get("QMS_KEY", "")]
    for place in (KEY_PLACE, LOCAL_KEY_PLACE):
        try:
            found.append((root / place).read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError):
            continue
    try:
        text = (root / CONFIGURATION_NAME).read_text(encoding="utf-8")
        found += _PLAIN_KEY.findall(text)
        settings, _ = parse(text)
        found.append(os.environ.get(settings.llm.api_key_env, ""))
        found += masks_of(settings)
    except (OSError, UnicodeDecodeError, InvalidInputError):
        pass
    return [secret for secret in found if secret]


def _about() -> dict[str, Any]:
    packages = [_AFTER_NAME.split(one)[0] for one in metadata.requires(_DISTRIBUTION) or []]
    return {
        "version": __version__,
        "madeUtc": f"{now():%Y-%m-%dT%H:%M:%SZ}",
        "python": sys.version,
        "system": platform.platform(),
        "packages": {name: _version(name) for name in packages},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _health(asked: Asked) -> Any:
    """Return the health report without reasons of bad lines: they may quote an entry."""
    with open_session(asked) as session:
        session.backend.load()
        found = session.call(session.project, "health", {})
    for problem in found["problems"]:
        if problem.get("line"):
            problem.pop("reason", None)
    return found


def _files(root: Path) -> Iterator[dict[str, Any]]:
    paths = (path for path in sorted(root.rglob("*")) if path.is_file())
    for path, _ in zip(paths, range(MAX_FILES), strict=False):
        about = path.lstat()
        name = path.relative_to(root).as_posix()
        yield {"name": name, "bytes": about.st_size, "mode": oct(about.st_mode & 0o777)}


def _configuration(root: Path) -> str:
    text = (root / CONFIGURATION_NAME).read_text(encoding="utf-8")
    try:
        return masked(text, masks_of(parse(text)[0]))
    except InvalidInputError as error:
        # An invalid file cannot be masked: only its names are included.
        names = _NAME.findall(text)
        return "\n".join([f"# not valid: {error.message}", *names, ""])


def _log(root: Path) -> str:
    found = tail(root / LOG_PLACE, size=LOG_LINES, level="debug")
    return "".join(f"{json.dumps(redacted(fields), ensure_ascii=False)}\n" for fields in found)
