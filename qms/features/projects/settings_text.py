"""The configuration as text: show with masked secrets, check, compare and save."""

import difflib
import re

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_VERSION, command
from qms.commands.configuration_edit import Changed, edit_configuration
from qms.commands.requests import NoArguments, Request, Response
from qms.config.configuration import InvalidEdit, version_of
from qms.config.masked import masked, masks_of
from qms.config.toml_file import SettingsWarning, parse
from qms.memory.errors import ConflictError, InvalidInputError, invalid

MAX_TEXT = 1024 * 1024

_MASK = re.compile(r"masked:[0-9a-f]{16}")


class ConfigAnswer(Response, frozen=True):
    """The text in force, with warnings and the error of an invalid file."""

    text: str
    version: str
    warnings: tuple[SettingsWarning, ...]
    error: InvalidEdit | None


class ConfigText(Request, frozen=True):
    """A text to check; masked secrets mean those in force."""

    text: str


class ConfigCheck(Response, frozen=True):
    """Whether a text could be saved, and what it would change."""

    valid: bool
    error: InvalidEdit | None
    warnings: list[SettingsWarning]
    diff: str
    """Lines removed and added, as `diff -u` shows them."""
    version: str


class ConfigSave(Request, frozen=True):
    """A text to save, and the version that it was edited from."""

    text: str
    if_version: str


@command(
    route="GET /admin/config",
    help="Return the configuration with its secrets masked",
)
def get_config(call: Call, _request: NoArguments) -> ConfigAnswer:
    """Return the text in force without its secrets."""
    configuration = call.context.configuration
    text = configuration.text
    return ConfigAnswer(
        text=masked(text, _masks(text)),
        version=version_of(text),
        warnings=configuration.warnings,
        error=configuration.error,
    )


@command(
    route="POST /admin/config/validate",
    help="Check a configuration and show what it would change; nothing is saved",
    example={"text": '[global]\nlogLevel = "debug"\n'},
    read_only=True,
    idempotent=True,
)
def validate_config(call: Call, request: ConfigText) -> ConfigCheck:
    """Check a text as saving it would, and return what it would change."""
    configuration = call.context.configuration
    before = configuration.text
    secrets = _masks(before)
    found: list[SettingsWarning] = []
    error = None
    try:
        text = _unmasked(request.text, secrets)
        found = configuration.check(text, confined=not call.is_local)
    except (InvalidInputError, ConflictError) as flaw:
        details = flaw.details
        error = InvalidEdit(flaw.message, details.get("field"), details.get("line"))
    return ConfigCheck(
        valid=error is None,
        error=error,
        warnings=found,
        diff=_diff(masked(before, secrets), request.text),
        version=version_of(before),
    )


@command(
    route="PUT /admin/config",
    help="Save a configuration; masked secrets stay what they are",
    example={"text": '[global]\nlogLevel = "debug"\n', "ifVersion": EXAMPLE_VERSION},
)
def save_config(call: Call, request: ConfigSave) -> Changed:
    """Replace the text of the configuration."""
    # A key that is still plain text is hashed first, which changes the version.
    settings = call.context.configuration.edit(lambda text: text)
    text = _unmasked(request.text, masks_of(settings))
    version = edit_configuration(
        call, lambda _text: text, request.if_version, op="update", target="config"
    )
    return Changed(version=version)


def _masks(text: str) -> dict[str, str]:
    """Return the masks of the keys in this text, which may be older than the one in force."""
    return masks_of(parse(text)[0])


def _unmasked(text: str, secrets: dict[str, str]) -> str:
    if len(text) > MAX_TEXT:
        raise invalid("text", f"may have at most {MAX_TEXT} characters", maximum=MAX_TEXT)
    hashes = {mask: secret for secret, mask in secrets.items()}

    def reveal(found: re.Match[str]) -> str:
        if found[0] not in hashes:
            line = text.count("\n", 0, found.start()) + 1
            raise InvalidInputError(
                f"line {line}: {found[0]} is the mask of an unknown key: read the text again",
                field="text",
                line=line,
            )
        return hashes[found[0]]

    return _MASK.sub(reveal, text)


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "in force", "new", lineterm=""
    )
    return "\n".join(lines)
