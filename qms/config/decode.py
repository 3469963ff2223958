"""Decodes the plain values of the TOML file into `Settings`; errors name the setting's path."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from qms.config import addresses
from qms.config.convert import (
    CONTROL,
    Place,
    Remark,
    SettingError,
    Standing,
    as_table,
    quoted,
    to_struct,
    unknown_keys,
)
from qms.config.cron import parse_cron
from qms.config.paths import comparable, path_flaw
from qms.config.settings import (
    UNBUILT_TOOLSETS,
    Endpoint,
    GlobalSettings,
    LlmSettings,
    Settings,
    Toolset,
    fold_slug,
)
from qms.config.users import decode_permissions, decode_users
from qms.disk.permissions import rights_of
from qms.memory.errors import InvalidInputError
from qms.memory.retention import MAX_SECONDS
from qms.memory.slugs import is_slug

_SECTIONS = ("global", "llm", "endpoint", "users", "permissions")
_LARGEST_LIMIT = 1 << 30
_LIMIT_MAXIMA = {"jsonDepth": 256, "hops": 100, "importSeconds": 3600}
_TIME_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def decode(data: Mapping[str, Any]) -> tuple[Settings, list[Remark]]:
    """Return the settings of the values of a TOML document, and the remarks about them.

    Raises:
        SettingError: a value is of the wrong type or out of its range.
    """
    remarks: list[Remark] = list(unknown_keys(data, _SECTIONS, ()))
    values = to_struct(_table(data, "global"), GlobalSettings, ("global",), remarks)
    _check_global(values)
    model = to_struct(_table(data, "llm"), LlmSettings, ("llm",), remarks)
    _check_llm(model)
    endpoints = _endpoints(_table(data, "endpoint"), values, remarks)
    users = decode_users(_table(data, "users"), remarks)
    permissions = decode_permissions(_table(data, "permissions"), endpoints, users, remarks)
    settings = Settings(
        global_=values, llm=model, endpoints=endpoints, users=users, permissions=permissions
    )
    return settings, remarks


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return as_table(data.get(name, {}), (name,))


def _check_global(values: GlobalSettings) -> None:
    place = ("global",)
    if CONTROL.search(values.service_name):
        raise SettingError((*place, "serviceName"), "may not contain control characters")
    if not values.listen:
        raise SettingError((*place, "listen"), "needs at least one URL")
    _check_each(values.listen, (*place, "listen"), addresses.parse_listen)
    _check_each(values.allowed_hosts, (*place, "allowedHosts"), addresses.check_host)
    _check_each(values.allowed_origins, (*place, "allowedOrigins"), addresses.check_origin)
    _check_files(values)
    if bool(values.tls_certificate) != bool(values.tls_key):
        missing = "tlsKey" if values.tls_certificate else "tlsCertificate"
        raise SettingError((*place, missing), "tlsCertificate and tlsKey belong together: set both")
    _check_folder(values.storage_root, (*place, "storageRoot"))
    _check_folder(values.backup_root, (*place, "backupRoot"))
    if comparable(values.storage_root) == comparable(values.backup_root):
        raise SettingError((*place, "backupRoot"), "must be another folder than storageRoot")
    _check_backup(values)
    _check_lengths(values)


def _check_each(texts: Iterable[str], place: Place, check: Callable[[str], object]) -> None:
    for position, text in enumerate(texts):
        _check_text(text, (*place, position), check)


def _check_text(text: str, place: Place, check: Callable[[str], object]) -> None:
    try:
        check(text)
    except ValueError as error:
        raise SettingError(place, f"{quoted(text)} {error}") from None


def _check_folder(text: str, place: Place) -> None:
    if flaw := path_flaw(text, confined=False):
        raise SettingError(place, flaw)


def _check_files(values: GlobalSettings) -> None:
    files: dict[Place, str] = {
        ("tlsCertificate",): values.tls_certificate,
        ("tlsKey",): values.tls_key,
        ("embedding", "model"): values.embedding.model,
        ("reranker", "model"): values.reranker.model,
    }
    for place, text in files.items():
        if CONTROL.search(text):
            raise SettingError(("global", *place), "may not contain control characters")


def _check_backup(values: GlobalSettings) -> None:
    place = ("global", "backup")
    cadence, zone = values.backup.cadence, values.backup.time_zone
    if cadence:
        _check_cadence(cadence, (*place, "cadence"))
    if not _TIME_ZONE.fullmatch(zone):
        raise SettingError(
            (*place, "timeZone"), 'must be "local", "UTC" or a name such as "Europe/Berlin"'
        )


def _check_cadence(cadence: str, place: Place) -> None:
    try:
        parse_cron(cadence)
    except ValueError as error:
        raise SettingError(place, str(error)) from None


def _check_lengths(values: GlobalSettings) -> None:
    for name, value in msgspec.to_builtins(values.retention).items():
        if name.endswith("Seconds") and not 0 <= value <= MAX_SECONDS:
            raise SettingError(
                ("global", "retention", name), f"must be 0 (forever) to {MAX_SECONDS} (ten years)"
            )
    try:
        rights_of(values.group)
    except InvalidInputError as error:
        raise SettingError(("global", "group"), error.message) from None
    for name, value in msgspec.to_builtins(values.limits).items():
        largest = _LIMIT_MAXIMA.get(name, _LARGEST_LIMIT)
        if not 1 <= value <= largest:
            raise SettingError(("global", "limits", name), f"must be 1 to {largest}")


def _check_llm(model: LlmSettings) -> None:
    if model.base_url:
        _check_text(model.base_url, ("llm", "baseUrl"), addresses.check_base_url)
    if model.api_key_env and not _VARIABLE.fullmatch(model.api_key_env):
        raise SettingError(
            ("llm", "apiKeyEnv"), "must be the name of an environment variable, not the key itself"
        )


def _endpoints(
    data: Mapping[str, Any], values: GlobalSettings, remarks: list[Remark]
) -> dict[str, Endpoint]:
    endpoints: dict[str, Endpoint] = {}
    folded: set[str] = set()
    folders = _Folders()
    for name, value in data.items():
        place = ("endpoint", name)
        endpoint = _endpoint(name, as_table(value, place), remarks)
        if fold_slug(endpoint.slug) in folded:
            raise SettingError(
                (*place, "slug"), f"another endpoint has the slug {endpoint.slug} (case is ignored)"
            )
        folded.add(fold_slug(endpoint.slug))
        folder = comparable(values.storage_root, endpoint.folder)
        folders.add(folder, endpoint.slug, (*place, "storagePath"))
        endpoints[endpoint.slug] = endpoint
    return endpoints


def _endpoint(name: str, data: Mapping[str, Any], remarks: list[Remark]) -> Endpoint:
    place = ("endpoint", name)
    given = {"slug": name, **data}
    for key in ("toolsets", "defaultToolsets"):
        if key in given:
            given[key] = _built_toolsets(given[key], (*place, key), remarks)
    endpoint = to_struct(given, Endpoint, place, remarks)
    if not is_slug(endpoint.slug):
        raise SettingError(
            (*place, "slug"),
            f"{quoted(endpoint.slug)} is not a slug: 1 to 64 letters, digits, - and _, a letter"
            " or digit first and last, no Windows device name",
        )
    if endpoint.storage_path:
        _check_folder(endpoint.storage_path, (*place, "storagePath"))
    extra = [tool for tool in endpoint.default_toolsets if tool not in endpoint.toolsets]
    if extra:
        raise SettingError((*place, "defaultToolsets"), f"{extra[0]} is not in toolsets")
    return endpoint


def _built_toolsets(given: Any, place: Place, remarks: list[Remark]) -> Any:
    """Return the toolsets without those that are not built, and add a remark for each of these."""
    if not isinstance(given, list):
        return given
    unbuilt = [name for name in given if isinstance(name, str) and name in UNBUILT_TOOLSETS]
    for name in unbuilt:
        reason = f"toolset {name} is not built; use {', '.join(Toolset)}"
        remarks.append(Remark(place, reason, Standing.VOID))
    return [name for name in given if name not in unbuilt]


class _Folders:
    """The folders of all stores; none may equal or contain another: two writers would collide."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, ...], str] = {}
        self._above: dict[tuple[str, ...], str] = {}

    def add(self, folder: tuple[str, ...], slug: str, place: Place) -> None:
        prefixes = [folder[:length] for length in range(len(folder) + 1)]
        owners = [self._owners[prefix] for prefix in prefixes if prefix in self._owners]
        if folder in self._above:
            owners.append(self._above[folder])
        if owners:
            raise SettingError(place, f"overlaps the folder of endpoint {owners[0]}")
        self._owners[folder] = slug
        self._above.update(dict.fromkeys(prefixes[:-1], slug))
