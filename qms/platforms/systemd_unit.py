"""Writes and reads the systemd unit file of the server."""

import re
from pathlib import Path

from qms.app.service_facts import LABEL
from qms.memory.errors import InvalidInputError
from qms.platforms.service_control import DISPLAY_NAME, ServiceSpec

UNIT_NAME = f"{LABEL}.service"
ACCOUNT = LABEL
DEFAULT_ROOT = Path("/var/lib") / LABEL

_STATE_FOLDERS = Path("/var/lib")
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
_FINAL_CODES = "2 5"
"""Exit codes that a restart would only repeat: invalid configuration, root owned by another."""

_TEMPLATE = """\
[Unit]
Description={description}
After=network.target
StartLimitIntervalSec=600
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart={command}
User={account}
{folders}
UMask=0077
Restart=on-failure
RestartSec=5
RestartPreventExitStatus={final_codes}
TimeoutStartSec=120
TimeoutStopSec=120
WatchdogSec=60

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome={home}
PrivateTmp=yes
PrivateDevices=yes
ProtectHostname=yes
ProtectClock=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
LimitNOFILE=65536

[Install]
WantedBy=multi-user.target
"""

_PLAIN = re.compile(r"[A-Za-z0-9_./:=@+,%$-]+")
_ESCAPED = re.compile(r"\\(.)")
_ROOT_OPTION = re.compile(r"^ExecStart=.* --root (\"(?:[^\"\\]|\\.)*\"|\S+)$", re.MULTILINE)


def unit_text(spec: ServiceSpec) -> str:
    """Return the unit file of a service.

    Raises:
        InvalidInputError: its account cannot reach the program or the root.
    """
    uses_home = any(_is_below_home(Path(path)) for path in (spec.executable[0], spec.root))
    if uses_home and not spec.account:
        error = InvalidInputError(
            f"{spec.executable[0]} or {spec.root} is in a home folder, which the service's own"
            " account cannot enter"
        )
        error.add_note("install the program below /opt, and choose a root below /var/lib or /srv")
        error.add_note("or run the service as the owner of that home: --account NAME")
        raise error
    words = (*spec.executable, "serve", "--root", str(spec.root))
    return _TEMPLATE.format(
        description=DISPLAY_NAME,
        command=" ".join(quoted(word) for word in words),
        account=spec.account or ACCOUNT,
        folders=_folders(spec.root),
        final_codes=_FINAL_CODES,
        home="read-only" if uses_home else "yes",
    )


def sysusers_text() -> str:
    """Return the sysusers.d file of the service's own account."""
    return f'u {ACCOUNT} - "{DISPLAY_NAME}" {DEFAULT_ROOT}\n'


def root_of_unit(unit: Path) -> str:
    """Return the root of an installed unit, or an empty string."""
    try:
        found = _ROOT_OPTION.search(unit.read_text(encoding="utf-8"))
    except OSError:
        return ""
    return _unquoted(found[1]) if found else ""


def quoted(word: str) -> str:
    """Return a word of a command line, quoted for a unit file.

    Raises:
        InvalidInputError: it has unprintable characters.
    """
    if not word.isprintable():
        raise InvalidInputError(f"{word!r} has characters that a unit file cannot contain")
    plain = word.replace("%", "%%").replace("$", "$$")
    if _PLAIN.fullmatch(plain):
        return plain
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(word: str) -> str:
    if word.startswith('"'):
        word = _ESCAPED.sub(r"\1", word[1:-1])
    return word.replace("$$", "$").replace("%%", "%")


def _folders(root: Path) -> str:
    """Return the settings of the writable folders; all others are read-only."""
    if root.parent == _STATE_FOLDERS:
        return f"StateDirectory={quoted(root.name)}\nStateDirectoryMode=0700"
    return f"ReadWritePaths={quoted(str(root))}"


def _is_below_home(path: Path) -> bool:
    return any(path.is_relative_to(home) for home in _HOMES)
