"""`memoryctl doctor`: check a root on this machine and fix common problems."""

import os
import socket
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.instants import now
from qms.cli.key_file import KEY_PLACE, read_key
from qms.cli.remote import Remote
from qms.cli.target import Asked, checked_root, running_url
from qms.config.addresses import parse_listen
from qms.config.configuration import Configuration
from qms.config.root import CONFIGURATION_NAME, LOCK_PLACE, OWN_FOLDER
from qms.config.settings import Settings
from qms.config.toml_file import parse
from qms.config.toml_text import TomlText
from qms.disk.disk import Disk
from qms.features.health.exposed_root import why_exposed
from qms.memory.errors import (
    InvalidInputError,
    NotAuthenticatedError,
    QmsError,
    UnavailableError,
    invalid,
)
from qms.models.choose import HASH_SETTING, model_folders
from qms.models.model_manifest import Refused, verify_model
from qms.telemetry.logs import LOG_PLACE

if TYPE_CHECKING:
    from qms.store.feature_files import Declared, FeatureFile

INOTIFY = Path("/proc/sys/fs/inotify")
LEAST_WATCHES = 8192
LEAST_INSTANCES = 64

_PRIVATE = frozenset({".jsonl", ".log", ".wal", ".json", ".toml"})
_MAX_FILES = 10_000
_SHOWN = 3
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_AHEAD = timedelta(minutes=5)
_EARLIEST_PLAUSIBLE = datetime(2025, 1, 1, tzinfo=UTC)


class Remedy(StrEnum):
    """A fix that is safe to apply: nothing is lost by it."""

    CLOSE = "closeToOthers"
    MAKE_FOLDER = "makeFolder"
    SEAL_KEYS = "sealKeys"


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of one check; `fix` tells the user what to do about a problem."""

    check: str
    problem: str = ""
    fix: str = ""
    is_fatal: bool = True
    remedy: Remedy | None = None
    """The fix that doctor can apply itself, to each of `targets`."""
    targets: list[str] = []


def examine(root: Path, asked: Asked, feature_files: "Declared | None" = None) -> Iterator[Finding]:
    """Yield the result of every check; `feature_files` are those of all features by default."""
    yield _folder(root)
    settings, found = _configuration(root)
    yield found
    yield from (_mode(root / CONFIGURATION_NAME, _others(settings)), _mode(root / KEY_PLACE))
    url = running_url(root)
    if url is not None:
        yield _key(url, asked.server_key or read_key(root))
    if settings is not None:
        yield from _by_settings(root, settings, is_running=url is not None)
        yield from _feature_files(list(_stores(root, settings)), feature_files)
    yield from (_clock(root), _inotify(INOTIFY), _python())


def _by_settings(root: Path, settings: Settings, *, is_running: bool) -> Iterator[Finding]:
    if not is_running:
        yield from (_port(address) for address in settings.global_.listen)
        yield _plain_keys(root / CONFIGURATION_NAME)
    places = (settings.storage_folder(root), settings.backup_folder(root))
    for name, place in zip(("stores", "backups"), places, strict=True):
        yield _place(name, place)
    yield _exposed(root, settings)
    yield _private([*places, root / LOG_PLACE.parent], _others(settings))
    yield _model(root, settings)


def _folder(root: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=root) as file:
            file.write(b"x")
    except OSError as error:
        fix = f"allow this user to write there (chmod u+w {root}), or pass another folder"
        return Finding(check="folder", problem=f"{root}: {error.strerror or error}", fix=fix)
    return Finding(check="folder")


def _configuration(root: Path) -> tuple[Settings | None, Finding]:
    path = root / CONFIGURATION_NAME
    try:
        settings, _ = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidInputError) as error:
        fix = f"correct {path}; `memoryctl config validate` shows details"
        return None, Finding(check="configuration", problem=str(error), fix=fix)
    return settings, Finding(check="configuration")


def _others(settings: Settings | None) -> int:
    """Return the permission bits that others must not have; a configured group may read."""
    return stat.S_IRWXO if settings is not None and settings.global_.group else _OTHERS


def _mode(path: Path, others: int = _OTHERS) -> Finding:
    name = f"rights on {path.name}"
    if os.name != "posix" or not path.exists() or not path.stat().st_mode & others:
        return Finding(check=name)
    return Finding(
        check=name,
        problem="other users can read it",
        fix=f"chmod 600 {path}",
        remedy=Remedy.CLOSE,
        targets=[str(path)],
    )


def _exposed(root: Path, settings: Settings) -> Finding:
    check = "rights on the root"
    problem, _, fix = (why_exposed(root, settings) or "").partition(": ")
    return Finding(check=check, problem=problem, fix=fix, is_fatal=False)


def _private(folders: list[Path], others: int) -> Finding:
    """Find memories and logs that others can read: some editors replace a file on saving."""
    check = "rights on memories"
    if os.name != "posix":
        return Finding(check=check)
    files = (path for folder in folders for path in folder.rglob("*") if _is_private(path))
    exposed = [str(path) for path in islice(files, _MAX_FILES) if path.stat().st_mode & others]
    if not exposed:
        return Finding(check=check)
    shown = f"{exposed[0]} and {len(exposed) - 1:,} more" if exposed[1:] else exposed[0]
    return Finding(
        check=check,
        problem=f"other users can read {shown}",
        fix=f"chmod 600 {' '.join(exposed[:_SHOWN])}{' …' if exposed[_SHOWN:] else ''}",
        is_fatal=False,
        remedy=Remedy.CLOSE,
        targets=exposed,
    )


def _is_private(path: Path) -> bool:
    is_kept = path.suffix in _PRIVATE or OWN_FOLDER in path.parts
    return is_kept and path.is_file() and not path.is_symlink()


def _stores(root: Path, settings: Settings) -> Iterator[Path]:
    for endpoint in settings.endpoints.values():
        with suppress(InvalidInputError):  # a link that leads out of the root: health reports it
            yield settings.store_folder(root, endpoint)


def _feature_files(stores: list[Path], declared: "Declared | None") -> Iterator[Finding]:
    """Check what features keep beside the entries of each store."""
    from qms.app.feature_files import FEATURE_FILES  # parts of the server: not for `--help`
    from qms.store.feature_files import find_fault

    for kind in FEATURE_FILES if declared is None else declared:
        faults = (find_fault(kind, Disk(), store / OWN_FOLDER) for store in stores)
        yield _feature_file(kind, next(filter(None, faults), ""))


def _feature_file(kind: "type[FeatureFile]", fault: str) -> Finding:
    lost = "nothing is lost by it" if kind.is_cache else "restore a backup if its content is missed"
    fix = f"inspect it, then remove it; {lost}" if fault else ""
    is_fatal = not kind.is_cache
    return Finding(check=f"files of {kind.place}", problem=fault, fix=fix, is_fatal=is_fatal)


def _plain_keys(path: Path) -> Finding:
    users = TomlText(path.read_text(encoding="utf-8")).values().get("users", {})
    named = [name for name, user in users.items() if user.get("apiKey")]
    if not named:
        return Finding(check="keys")
    return Finding(
        check="keys",
        problem=f"the configuration contains a plain-text key of {', '.join(named)}",
        fix="start the server or pass --fix to replace it with its hash",
        is_fatal=False,
        remedy=Remedy.SEAL_KEYS,
        targets=[str(path)],
    )


def _place(name: str, folder: Path) -> Finding:
    """Check that a folder exists or can be created."""
    if not folder.exists() and not folder.parent.exists():
        return Finding(
            check=name,
            problem=f"there is no {folder.parent}",
            fix=f"mkdir -p {folder}; if it is on another disk, mount the disk first",
            remedy=Remedy.MAKE_FOLDER,
            targets=[str(folder)],
        )
    if os.access(folder if folder.exists() else folder.parent, os.W_OK | os.X_OK):
        return Finding(check=name)
    fix = f"allow this user to write there: chmod u+w {folder}"
    return Finding(check=name, problem=f"{folder} cannot be written", fix=fix)


def _key(url: str, key: str | None) -> Finding:
    fix = "`memoryctl init` creates a key for memoryctl, `memoryctl keys create USER` for others"
    if key is None:
        # A new root has none: nothing is broken, memoryctl can only not ask the server yet.
        return Finding(check="key (none yet: `memoryctl init` creates one)")
    try:
        remote = Remote(url, key)
        try:
            remote.projects()
        finally:
            remote.close()
    except NotAuthenticatedError as error:
        return Finding(check="key", problem=error.message, fix=fix)
    except QmsError as error:
        return Finding(check="server", problem=error.message, fix="see `memoryctl logs`")
    return Finding(check="key")


def _port(listen: str) -> Finding:
    address = parse_listen(listen)
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        if os.name == "posix":
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((address.host, address.port))
        except OSError as error:
            fix = "stop the program that uses it, or set another port: `listen` in [global], --port"
            return Finding(check="port", problem=f"{listen}: {error.strerror or error}", fix=fix)
    return Finding(check="port")


def _model(root: Path, settings: Settings) -> Finding:
    model = settings.global_.embedding.model
    if model == HASH_SETTING:
        return Finding(check="model")
    found = (folder / model for folder in model_folders(root) if (folder / model).is_file())
    path = next(found, None)
    verified = Refused(f"{model} is missing") if path is None else verify_model(path)
    if not isinstance(verified, Refused):
        return Finding(check="model")
    fix = f"put it into {root / model}; until then search is by keyword only"
    return Finding(check="model", problem=verified.reason, fix=fix, is_fatal=False)


def _clock(root: Path) -> Finding:
    now = datetime.now(UTC)
    known = [root / CONFIGURATION_NAME, root / LOCK_PLACE]
    written = [datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in known if path.exists()]
    if now < _EARLIEST_PLAUSIBLE or any(moment > now + _AHEAD for moment in written):
        problem = f"the clock says {now:%Y-%m-%d %H:%M} UTC, but files here are newer"
        return Finding(check="clock", problem=problem, fix="set it: timedatectl set-ntp true")
    return Finding(check="clock")


def _inotify(folder: Path) -> Finding:
    least = {"max_user_watches": LEAST_WATCHES, "max_user_instances": LEAST_INSTANCES}
    for name, wanted in least.items():
        try:
            given = int((folder / name).read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue  # another system, which has no such limit
        if given < wanted:
            problem = f"{name} is {given:,}: hand edits may be noticed late"
            fix = f"sudo sysctl fs.inotify.{name}={wanted}, and the same in /etc/sysctl.conf"
            return Finding(check="inotify", problem=problem, fix=fix, is_fatal=False)
    return Finding(check="inotify")


def _python() -> Finding:
    mark = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    if sys.prefix != sys.base_prefix or not mark.exists():
        return Finding(check="python")
    problem = "it runs in the system Python, which refuses pip (PEP 668)"
    fix = "install it in a virtual environment: uv tool install, pipx, or python3 -m venv"
    return Finding(check="python", problem=problem, fix=fix, is_fatal=False)


_OWNER_ONLY = 0o600


@click.command(cls=Verb, example="memoryctl doctor --fix")
@click.option(
    "--fix",
    is_flag=True,
    help="Fix what is safe: permissions, missing folders, keys in plain text.",
)
@shared_options
def doctor(asked: Asked, fix: bool) -> None:
    """Check for common problems and show how to fix them; exit code 6 if there is an error."""
    if asked.url is not None:
        raise invalid("url", "doctor checks local files: run it on that machine, with --root")
    root = checked_root(asked)
    output.note(f"on the files in {root}")
    findings = [_fixed(one) if fix else one for one in examine(root, asked)]
    if asked.as_json:
        output.answer({"findings": msgspec.to_builtins(findings)})
    else:
        for one in findings:
            _show(one)
    if any(one.problem and one.is_fatal for one in findings):
        raise click.exceptions.Exit(UnavailableError.exit_code)


def _fixed(finding: Finding) -> Finding:
    """Apply the safe remedy of a finding, if it has one, and return the new finding."""
    if finding.remedy is None:
        return finding
    try:
        for target in finding.targets:
            _apply(finding.remedy, Path(target))
    except (OSError, QmsError) as error:
        output.warning(f"{finding.check} could not be fixed: {error}")
        return finding
    output.note(f"fixed: {finding.fix}")
    return Finding(check=finding.check)


def _apply(remedy: Remedy, target: Path) -> None:
    match remedy:
        case Remedy.CLOSE:
            target.chmod(_OWNER_ONLY)
        case Remedy.MAKE_FOLDER:
            target.mkdir(parents=True)
        case Remedy.SEAL_KEYS:
            Configuration(target, Disk(), now).load(makes_admin=False)
        case _:
            assert_never(remedy)


def _show(finding: Finding) -> None:
    if not finding.problem:
        output.styled_line(("ok    ", {"fg": "green"}), (finding.check, {}))
        return
    word, colour = ("error ", "red") if finding.is_fatal else ("note  ", "yellow")
    output.styled_line((word, {"fg": colour}), (f"{finding.check}: {finding.problem}", {}))
    output.line(f"      fix: {finding.fix}")
