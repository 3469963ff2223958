"""The configuration as text: shown with its secrets masked, checked, compared and saved."""

import difflib
import re

from qms.config.toml_file import SettingsWarning, parse
from qms.domain.errors import ConflictError, InvalidInputError, invalid
from qms.service.admin.calls import AdminCall, Changed
from qms.service.configuration import InvalidEdit, version_of
from qms.service.masking import masked, masks_of
from qms.service.requests import NoArguments, Request, Response

MAX_TEXT = 1024 * 1024

_MASK = re.compile(r"masked:[0-9a-f]{16}")


class ConfigAnswer(Response, frozen=True):
    """The text in force, and what is wrong with the file as it stands."""

    text: str
    version: str
    warnings: tuple[SettingsWarning, ...]
    error: InvalidEdit | None


class ConfigText(Request, frozen=True):
    """A text to be checked; masked secrets stand for those in force."""

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
    """A text to be saved in the place of the version that it was made from."""

    text: str
    if_version: str


def get_config(call: AdminCall, _request: NoArguments) -> ConfigAnswer:
    """Return the text in force without its secrets."""
    configuration = call.house.configuration
    text = configuration.text
    return ConfigAnswer(
        text=masked(text, _masks(text)),
        version=version_of(text),
        warnings=configuration.warnings,
        error=configuration.error,
    )


def validate_config(call: AdminCall, request: ConfigText) -> ConfigCheck:
    """Check a text as saving it would, and return what it would change."""
    configuration = call.house.configuration
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


def save_config(call: AdminCall, request: ConfigSave) -> Changed:
    """Put a text in the place of the configuration."""
    # A key that still stands there as text becomes its hash first, and the version another one.
    settings = call.house.configuration.edit(lambda text: text)
    text = _unmasked(request.text, masks_of(settings))
    version = call.edit(lambda _text: text, request.if_version, op="update", target="config")
    return Changed(version=version)


def _masks(text: str) -> dict[str, str]:
    """Return the masks of the keys in this very text, whatever is in force by now."""
    return masks_of(parse(text)[0])


def _unmasked(text: str, secrets: dict[str, str]) -> str:
    if len(text) > MAX_TEXT:
        raise invalid("text", f"may have {MAX_TEXT} characters", maximum=MAX_TEXT)
    hashes = {mask: secret for secret, mask in secrets.items()}

    def reveal(found: re.Match[str]) -> str:
        if found[0] not in hashes:
            line = text.count("\n", 0, found.start()) + 1
            raise InvalidInputError(
                f"line {line}: {found[0]} stands for no key that is there: read the text again",
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
