"""`memoryctl init`: create a root, and a key in it for memoryctl."""

from pathlib import Path

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.instants import now
from qms.cli.key_file import KEY_PLACE, read_key
from qms.cli.key_store import await_server, store_key
from qms.cli.target import Asked, running_url
from qms.config.configuration import FIRST_ADMIN, key_record, new_key
from qms.config.root import CONFIGURATION_NAME, find_root
from qms.disk.disk import Disk
from qms.disk.permissions import Rights, make_folder
from qms.memory.errors import UnavailableError, invalid

KEY_LABEL = "memoryctl"


@click.command(cls=Verb, example="memoryctl init --root ~/memory")
@shared_options
def init(asked: Asked) -> None:
    """Create a root, and a key in it that memoryctl uses; an existing root is not changed."""
    if asked.url is not None:
        raise invalid("url", "init works on local files: leave out --url")
    root = find_root(asked.root)
    is_new = not (root / CONFIGURATION_NAME).exists()
    path = root / KEY_PLACE
    if is_new or read_key(root) is None:
        path = _make(root)
    if asked.as_json:
        output.answer({"root": str(root), "created": is_new, "keyFile": str(path)})
    else:
        output.line(str(root))
    output.note(f"{'created' if is_new else 'already exists'}; memoryctl's key is in {path}")
    if running_url(root) is None:
        output.hint(f"start the server: qms serve --root {root}")


def _make(root: Path) -> Path:
    key = new_key()
    try:
        make_folder(root, Rights())
        store_key(root, FIRST_ADMIN, None, key_record(key, now(), label=KEY_LABEL))
        path = _write_key(root, key)
    except OSError as error:
        raise UnavailableError(f"{root} cannot be used: {error.strerror or error}") from error
    await_server(root, key)
    return path


def _write_key(root: Path, key: str) -> Path:
    """Write the key file of a root, readable by its owner only, and return its path."""
    path = root / KEY_PLACE
    path.parent.mkdir(parents=True, exist_ok=True)
    Disk().put(path, f"{key}\n".encode())
    return path
