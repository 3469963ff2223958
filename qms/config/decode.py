"""Plain values as read from the TOML, turned into `Settings`; every flaw is named by its place."""

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
    as_table,
    quoted,
    to_struct,
    unknown_keys,
)
from qms.config.cron import parse_cron
from qms.config.paths import comparable, path_flaw
from qms.config.settings import Endpoint, GlobalSettings, LlmSettings, Settings, fold_slug
from qms.config.users import decode_permissions, decode_users
from qms.domain.lifecycle import MAX_SECONDS
from qms.domain.slugs import is_slug

_SECTIONS = ("global", "llm", "endpoint", "users", "permissions")
_LARGEST_LIMIT = 1 << 30
_LIMIT_MAXIMA = {"jsonDepth": 256, "hops": 100}
_TIME_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def decode(data: Mapping[str, Any]) -> tuple[Settings, list[Remark]]:
    """Return the settings that the values of a TOML document mean, and what is odd about them.

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
                ("global", "retention", name), f"must be 0 (for ever) to {MAX_SECONDS} (ten years)"
            )
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
                (*place, "slug"), f"{endpoint.slug} names another endpoint too (case is ignored)"
            )
        folded.add(fold_slug(endpoint.slug))
        folder = comparable(values.storage_root, endpoint.folder)
        folders.add(folder, endpoint.slug, (*place, "storagePath"))
        endpoints[endpoint.slug] = endpoint
    return endpoints


def _endpoint(name: str, data: Mapping[str, Any], remarks: list[Remark]) -> Endpoint:
    place = ("endpoint", name)
    endpoint = to_struct({"slug": name, **data}, Endpoint, place, remarks)
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
        raise SettingError((*place, "defaultToolsets"), f"{extra[0]} is not among toolsets")
    return endpoint


class _Folders:
    """The folders of all stores; none may be, hold or lie in another: two writers would meet."""

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
