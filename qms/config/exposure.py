"""Checks that remote edits keep paths inside the root, and that reachable servers are protected."""

from collections.abc import Iterable
from pathlib import Path

from qms.config.addresses import ListenAddress
from qms.config.paths import path_flaw
from qms.config.settings import GlobalSettings, Settings
from qms.memory.errors import InvalidInputError, invalid


def check_confined(before: Settings, after: Settings, root: Path) -> None:
    """Raise `InvalidInputError` when a path that differs from `before` leaves the root.

    For changes that come from outside the machine; an edit of the file may have absolute paths.
    """
    known = dict(_paths(before))
    for field, text in _paths(after):
        if text in ("", known.get(field)):
            continue
        if flaw := path_flaw(text, confined=True):
            raise invalid(field, flaw)
    after.backup_folder(root)
    for endpoint in after.endpoints.values():
        if before.endpoints.get(endpoint.slug) != endpoint:
            after.store_folder(root, endpoint)


def check_exposure(settings: GlobalSettings, addresses: Iterable[ListenAddress]) -> None:
    """Raise `InvalidInputError` when other machines could reach an unprotected server.

    The addresses are a separate argument: the command line may replace those of the file.
    """
    for address in addresses:
        if address.is_tls and not settings.tls_certificate:
            raise InvalidInputError(
                f"{address.url} needs global.tlsCertificate and global.tlsKey: name the files of"
                " a certificate and its key, or listen on http://",
                field="global.tlsCertificate",
            )
        if not address.is_loopback:
            _check_reachable(settings, address)


def _check_reachable(settings: GlobalSettings, address: ListenAddress) -> None:
    missing = []
    if not settings.allowed_hosts:
        missing.append('list the host names that clients use in allowedHosts = ["memory.example"]')
    if not address.is_tls and not settings.behind_proxy:
        missing.append(
            "listen on https:// with tlsCertificate and tlsKey, or set behindProxy = true when a"
            " proxy in front does TLS"
        )
    if missing:
        raise InvalidInputError(
            f"{address.url} can be reached from other machines: {'; and '.join(missing)}"
            " (all in [global]), or listen on 127.0.0.1",
            field="global.listen" if settings.allowed_hosts else "global.allowedHosts",
        )


def _paths(settings: Settings) -> Iterable[tuple[str, str]]:
    values = settings.global_
    yield "global.storageRoot", values.storage_root
    yield "global.backupRoot", values.backup_root
    yield "global.tlsCertificate", values.tls_certificate
    yield "global.tlsKey", values.tls_key
    yield "global.embedding.model", values.embedding.model
    yield "global.reranker.model", values.reranker.model
    for slug, endpoint in settings.endpoints.items():
        yield f"endpoint.{slug}.storagePath", endpoint.storage_path
