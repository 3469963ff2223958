"""The container recipe, executed in a bare Debian: what the image file says is what runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from installer.wheels import build_product
from tests.house.pages import ROOT

FOLDER = ROOT / "installer" / "container"
MIRROR = "http://deb.debian.org/debian"
START_LIMIT_S = 240
MEMORY = "Staging has port 5433"

_INSTRUCTION = re.compile(r"^([A-Z]+) (.*)$", re.MULTILINE)


def instructions() -> dict[str, str]:
    """Return the last of each instruction of the image file."""
    return dict(_INSTRUCTION.findall((FOLDER / "Containerfile").read_text(encoding="utf-8")))


def test_the_image_runs_the_build_script_and_drops_all_rights() -> None:
    said = instructions()
    script = (FOLDER / "build.sh").read_text(encoding="utf-8")

    assert said["RUN"].startswith("/tmp/build/build.sh ")
    uid = re.search(r"^uid=(\d+)$", script, re.MULTILINE)
    assert uid is not None
    assert said["USER"] == f"{uid[1]}:{uid[1]}" != "0:0"
    assert said["VOLUME"] == "/data"
    assert said["ENV"] == "QMS_ROOT=/data"
    assert os.access(FOLDER / "build.sh", os.X_OK)


def test_the_compose_file_keeps_the_data_and_opens_no_port_to_others() -> None:
    compose: Any = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    service = compose["services"]["memory"]

    file = FOLDER / service["build"]["context"] / service["build"]["dockerfile"]
    assert file.resolve() == FOLDER / "Containerfile"
    assert service["network_mode"] == "host"
    assert "ports" not in service
    assert service["volumes"] == ["memory:/data"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


class Bare:
    """A bare Debian in a folder; commands run in it with mounts and processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = ["debootstrap", "--variant=minbase", _suite(), str(folder), MIRROR]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        for name in ("resolv.conf", "hosts"):
            shutil.copy(Path("/etc") / name, folder / "etc" / name)

    def command(self, *words: str, user: str = "") -> list[str]:
        """Return the command that runs a program inside, as root or as another user."""
        spaces = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.folder}/proc"]
        who = [f"--userspec={user}"] if user else []
        return [*spaces, "chroot", *who, str(self.folder), *words]

    def run(self, *words: str, user: str = "", **variables: str) -> str:
        """Run a program inside and return what it printed."""
        done = subprocess.run(
            self.command(*words, user=user),
            env=_environment(variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    @contextmanager
    def serving(self, command: list[str], user: str, **variables: str) -> Iterator[str]:
        """Run a server inside and yield the URL that it prints."""
        process = subprocess.Popen(
            self.command(*command, user=user),
            env=_environment(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
        guard = threading.Timer(START_LIMIT_S, process.kill)
        guard.start()
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("listening: "):
                    break
            assert lines, "the server ended without a word"
            assert lines[-1].startswith("listening: "), lines
            yield lines[-1].split()[-1]
        finally:
            guard.cancel()
            # The program, not only `unshare`: the first process of its namespace takes all along.
            for started in psutil.Process(process.pid).children(recursive=True):
                started.kill()
            process.communicate()


def _environment(variables: dict[str, str]) -> dict[str, str]:
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {**kept, "PATH": path, "LANG": "C.UTF-8", **variables}


def _suite() -> str:
    """Return the Debian release that the image is made from."""
    base = re.fullmatch(r"debian:(\w+)-slim", instructions()["FROM"])
    assert base is not None
    return base[1]


@pytest.mark.long
@pytest.mark.needs("debootstrap", "unshare")
@pytest.mark.timeout(1800)
def test_the_recipe_serves_in_a_bare_debian(tmp_path: Path) -> None:
    said = instructions()
    bare = Bare(tmp_path / "bare")
    build = bare.folder / "tmp" / "build"
    build.mkdir()
    wheel = build_product(ROOT, build)
    shutil.copy(FOLDER / "build.sh", build)
    packages = build / "packages"
    fetch = [sys.executable, "-m", "pip", "download", "-q", "-d", str(packages), str(wheel)]
    subprocess.run(fetch, check=True)

    run = ["sh", "-c", said["RUN"]]
    bare.run(*run, PIP_NO_INDEX="1", PIP_FIND_LINKS="/tmp/build/packages")

    assert not build.exists()
    user, command = said["USER"], json.loads(said["CMD"])
    variables = dict(one.split("=") for one in shlex.split(said["ENV"]))
    check = json.loads(said["HEALTHCHECK"].partition("CMD ")[2])
    assert bare.run("id", "-u", user=user).strip() == user.partition(":")[0]
    with bare.serving([*command, "--port", "0"], user, **variables) as url:
        bare.run(*check, url.rpartition(":")[2], user=user)
        bare.run("memoryctl", "init", user=user, **variables)
        bare.run("memoryctl", "remember", MEMORY, user=user, **variables)
        assert MEMORY in bare.run("memoryctl", "search", "staging", user=user, **variables)
    entries = bare.folder / "data" / "MemoryStores" / "default"
    assert str(entries.stat().st_uid) == user.partition(":")[0]
    with pytest.raises(AssertionError, match="Permission denied"):
        bare.run("touch", "/opt/quick-memory-server/bin/qms", user=user)
    with pytest.raises(AssertionError, match="Connection refused"):
        bare.run(*check, url.rpartition(":")[2], user=user)
