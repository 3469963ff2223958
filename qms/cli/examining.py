"""What `memoryctl doctor` looks at: one function for each thing that goes wrong on machines."""

import os
import socket
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from pathlib import Path

import msgspec

from qms.cli.key_file import KEY_PLACE, read_key
from qms.cli.remote import Remote
from qms.cli.target import Asked, running_url
from qms.config.addresses import parse_listen
from qms.config.settings import Settings
from qms.config.toml_file import parse
from qms.config.toml_text import TomlText
from qms.domain.errors import InvalidInputError, NotAuthenticatedError, QmsError
from qms.inference.choose import HASH_SETTING, model_folders
from qms.inference.manifest import Refused, verify_model
from qms.runtime.root import CONFIGURATION_NAME, LOCK_PLACE
from qms.telemetry.logs import LOG_PLACE

INOTIFY = Path("/proc/sys/fs/inotify")
LEAST_WATCHES = 8192
LEAST_INSTANCES = 64

_PRIVATE = frozenset({".jsonl", ".log", ".wal", ".json", ".toml"})
_MAX_FILES = 10_000
_SHOWN = 3
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_AHEAD = timedelta(minutes=5)
_NOBODY_EARLIER = datetime(2025, 1, 1, tzinfo=UTC)


class Remedy(StrEnum):
    """What can be done without a risk: nothing is lost by it."""

    CLOSE = "closeToOthers"
    MAKE_FOLDER = "makeFolder"
    SEAL_KEYS = "sealKeys"


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one look came to; `fix` says what to do where something is wrong."""

    check: str
    problem: str = ""
    fix: str = ""
    is_fatal: bool = True
    remedy: Remedy | None = None
    """What doctor can do by itself, to each of `targets`."""
    targets: list[str] = []


def examine(root: Path, asked: Asked) -> Iterator[Finding]:
    """Yield what every look came to."""
    yield _folder(root)
    settings, found = _configuration(root)
    yield found
    yield from (_mode(root / CONFIGURATION_NAME), _mode(root / KEY_PLACE))
    url = running_url(root)
    if url is not None:
        yield _key(url, asked.server_key or read_key(root))
    if settings is not None:
        yield from _by_settings(root, settings, is_running=url is not None)
    yield from (_clock(root), _inotify(INOTIFY), _python())


def _by_settings(root: Path, settings: Settings, *, is_running: bool) -> Iterator[Finding]:
    if not is_running:
        yield from (_port(address) for address in settings.global_.listen)
        yield _plain_keys(root / CONFIGURATION_NAME)
    places = (settings.storage_folder(root), settings.backup_folder(root))
    for name, place in zip(("stores", "backups"), places, strict=True):
        yield _place(name, place)
    yield _private([*places, root / LOG_PLACE.parent])
    yield _model(root, settings)


def _folder(root: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=root) as file:
            file.write(b"x")
    except OSError as error:
        fix = f"give this user the right to write there, or name another folder: chmod u+w {root}"
        return Finding(check="folder", problem=f"{root}: {error.strerror or error}", fix=fix)
    return Finding(check="folder")


def _configuration(root: Path) -> tuple[Settings | None, Finding]:
    path = root / CONFIGURATION_NAME
    try:
        settings, _ = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidInputError) as error:
        fix = f"mend {path}; `memoryctl config validate` says more"
        return None, Finding(check="configuration", problem=str(error), fix=fix)
    return settings, Finding(check="configuration")


def _mode(path: Path) -> Finding:
    name = f"rights on {path.name}"
    if os.name != "posix" or not path.exists() or not path.stat().st_mode & _OTHERS:
        return Finding(check=name)
    return Finding(
        check=name,
        problem="others may read it",
        fix=f"chmod 600 {path}",
        remedy=Remedy.CLOSE,
        targets=[str(path)],
    )


def _private(folders: list[Path]) -> Finding:
    """Look for memories and logs that others may read, as editors leave them that save anew."""
    check = "rights on memories"
    if os.name != "posix":
        return Finding(check=check)
    files = (path for folder in folders for path in folder.rglob("*") if _is_private(path))
    exposed = [str(path) for path in islice(files, _MAX_FILES) if path.stat().st_mode & _OTHERS]
    if not exposed:
        return Finding(check=check)
    shown = f"{exposed[0]} and {len(exposed) - 1:,} more" if exposed[1:] else exposed[0]
    return Finding(
        check=check,
        problem=f"others may read {shown}",
        fix=f"chmod 600 {' '.join(exposed[:_SHOWN])}{' …' if exposed[_SHOWN:] else ''}",
        is_fatal=False,
        remedy=Remedy.CLOSE,
        targets=exposed,
    )


def _is_private(path: Path) -> bool:
    return path.suffix in _PRIVATE and path.is_file() and not path.is_symlink()


def _plain_keys(path: Path) -> Finding:
    users = TomlText(path.read_text(encoding="utf-8")).values().get("users", {})
    named = [name for name, user in users.items() if user.get("apiKey")]
    if not named:
        return Finding(check="keys")
    return Finding(
        check="keys",
        problem=f"a key of {', '.join(named)} stands in the configuration as text",
        fix="start the server, or pass --fix: it is replaced by its hash",
        is_fatal=False,
        remedy=Remedy.SEAL_KEYS,
        targets=[str(path)],
    )


def _place(name: str, folder: Path) -> Finding:
    """Look whether a folder is there, or can be made when it is needed."""
    if not folder.exists() and not folder.parent.exists():
        return Finding(
            check=name,
            problem=f"there is no {folder.parent}",
            fix=f"mkdir -p {folder}; if it is on another disk, mount that first",
            remedy=Remedy.MAKE_FOLDER,
            targets=[str(folder)],
        )
    if os.access(folder if folder.exists() else folder.parent, os.W_OK | os.X_OK):
        return Finding(check=name)
    fix = f"give this user the right to write there: chmod u+w {folder}"
    return Finding(check=name, problem=f"{folder} cannot be written", fix=fix)


def _key(url: str, key: str | None) -> Finding:
    fix = "`memoryctl init` makes a key for memoryctl, `memoryctl keys create USER` one for others"
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
            fix = "end what listens there, or choose another port: `listen` in [global], or --port"
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
    fix = f"put it into {root / model}; until then search goes by words alone"
    return Finding(check="model", problem=verified.reason, fix=fix, is_fatal=False)


def _clock(root: Path) -> Finding:
    now = datetime.now(UTC)
    known = [root / CONFIGURATION_NAME, root / LOCK_PLACE]
    written = [datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in known if path.exists()]
    if now < _NOBODY_EARLIER or any(moment > now + _AHEAD for moment in written):
        problem = f"it says {now:%Y-%m-%d %H:%M} UTC, and files here are from later"
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
            problem = f"{name} is {given:,}: hand edits may be seen late"
            fix = f"sudo sysctl fs.inotify.{name}={wanted}, and the same in /etc/sysctl.conf"
            return Finding(check="inotify", problem=problem, fix=fix, is_fatal=False)
    return Finding(check="inotify")


def _python() -> Finding:
    mark = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    if sys.prefix != sys.base_prefix or not mark.exists():
        return Finding(check="python")
    problem = "it runs in the system's own Python, which refuses pip (PEP 668)"
    fix = "install it in an environment of its own: uv tool install, pipx, or python3 -m venv"
    return Finding(check="python", problem=problem, fix=fix, is_fatal=False)
