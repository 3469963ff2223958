"""Who may do what, and where the folders are, as the settings say."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from qms.config.api_keys import KeyRecord, hash_key
from qms.config.exposure import check_confined, check_exposure
from qms.config.settings import Endpoint, GlobalSettings, Settings, User
from qms.config.toml_file import parse
from qms.memory.access import AccessTier
from qms.memory.errors import InvalidInputError

NOW = datetime(2026, 5, 1, tzinfo=UTC)

TEAM = """
[endpoint.open]
[endpoint.closed]
slug = "Closed"
private = true
[users.alice]
tier = "admin"
[users.bob]
tier = "reader"
[permissions.OPEN]
bob = "curator"
alice = "none"
[permissions.closed]
bob = "writer"
"""


@pytest.mark.parametrize(
    ("user", "slug", "access"),
    [
        ("alice", "open", AccessTier.NONE),
        ("bob", "open", AccessTier.CURATOR),
        ("bob", "OPEN", AccessTier.CURATOR),
        ("alice", "closed", AccessTier.NONE),
        ("bob", "closed", AccessTier.WRITER),
        ("bob", "absent", AccessTier.NONE),
        ("nobody", "open", AccessTier.NONE),
    ],
)
def test_permissions_raise_lower_and_shut(user: str, slug: str, access: AccessTier) -> None:
    settings, _ = parse(TEAM)
    assert settings.access(user, slug) is access


def test_without_permissions_the_users_tier_counts_unless_the_project_is_private() -> None:
    settings, _ = parse(TEAM.partition("[permissions")[0])
    assert settings.access("alice", "open") is AccessTier.ADMIN
    assert settings.access("alice", "closed") is AccessTier.NONE


def test_the_owner_of_the_machine_writes_unless_the_configuration_says_otherwise() -> None:
    settings, _ = parse(TEAM)
    assert settings.access("local", "open") is AccessTier.WRITER
    assert settings.access("local", "closed") is AccessTier.NONE

    told, warnings = parse(TEAM + 'local = "curator"\n[users.local]\ntier = "reader"\n')
    assert told.access("local", "open") is AccessTier.READER
    assert told.access("local", "closed") is AccessTier.CURATOR
    assert parse(TEAM + 'local = "reader"\n')[1] == warnings == []


def test_a_slug_is_found_without_case_and_keeps_its_spelling() -> None:
    settings, _ = parse(TEAM)
    found = settings.find_endpoint("cLOSED")
    assert found is not None
    assert found.slug == "Closed"
    assert set(settings.permissions) == {"open", "Closed"}


@pytest.mark.attack("30")
@pytest.mark.parametrize(
    "slug", ["ſhared", "\u212aelvin", "shаred", "shared ", "shared\n", "", ".."]
)
def test_a_slug_that_only_looks_alike_is_no_project(slug: str) -> None:
    settings, _ = parse("[endpoint.shared]\n[endpoint.kelvin]\n")
    assert settings.find_endpoint(slug) is None


def test_an_admin_is_somebody_with_the_tier_and_a_key_that_works() -> None:
    expired = KeyRecord(id="1", sha256=hash_key("x"), expires_utc=NOW - timedelta(days=1))
    good = KeyRecord(id="2", sha256=hash_key("y"))
    settings = Settings(
        users={
            "keyless": User(access=AccessTier.ADMIN),
            "expired": User(access=AccessTier.ADMIN, keys=(expired,)),
            "reader": User(access=AccessTier.READER, keys=(good,)),
            "admin": User(access=AccessTier.ADMIN, keys=(expired, good)),
        }
    )
    assert settings.admins(NOW) == ["admin"]


def test_folders_default_to_the_root_and_the_slug(tmp_path: Path) -> None:
    settings = Settings()
    root = tmp_path.resolve()
    assert settings.store_folder(root, Endpoint(slug="a")) == root / "MemoryStores" / "a"
    assert settings.backup_folder(root) == root / "Backups"
    chosen = Endpoint(slug="a", storage_path="team/a")
    assert settings.store_folder(root, chosen) == root / "MemoryStores" / "team" / "a"


def test_an_absolute_path_written_by_hand_is_taken(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    endpoint = Endpoint(slug="a", storage_path=str(elsewhere))
    assert Settings().store_folder(tmp_path / "root", endpoint) == elsewhere


@pytest.mark.attack("31")
def test_a_store_behind_a_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    stores = tmp_path / "root" / "MemoryStores"
    stores.mkdir(parents=True)
    (stores / "a").symlink_to(tmp_path)
    with pytest.raises(InvalidInputError, match="symbolic link") as caught:
        Settings().store_folder(tmp_path / "root", Endpoint(slug="a"))
    assert caught.value.details["field"] == "endpoint.a.storagePath"


@pytest.mark.attack("31")
@pytest.mark.parametrize(
    "change",
    [
        '[endpoint.a]\nstoragePath = "/etc"',
        '[endpoint.a]\nstoragePath = "link"',
        '[global]\nbackupRoot = "/etc"',
        '[global]\nstorageRoot = "/etc"',
        '[global]\ntlsCertificate = "/a"\ntlsKey = "/b"',
        '[global.embedding]\nmodel = "/etc/model.onnx"',
        '[global.reranker]\nmodel = "/etc/model.onnx"',
    ],
)
def test_a_change_from_outside_keeps_every_path_inside(change: str, tmp_path: Path) -> None:
    (tmp_path / "MemoryStores").mkdir()
    (tmp_path / "MemoryStores" / "link").symlink_to("/")
    after, _ = parse(change)
    with pytest.raises(InvalidInputError):
        check_confined(Settings(), after, tmp_path)


def test_a_change_from_outside_may_leave_a_persons_absolute_path_as_it_is(tmp_path: Path) -> None:
    text = '[endpoint.a]\nstoragePath = "/srv/a"\n'
    before, _ = parse(text)
    after, _ = parse(text + 'name = "A"\n[endpoint.b]\n')
    check_confined(before, after, tmp_path)


def exposed(**values: object) -> None:
    settings = GlobalSettings(**values)  # type: ignore[arg-type]  # any field, for brevity
    check_exposure(settings, settings.addresses())


def test_loopback_needs_nothing() -> None:
    exposed()
    exposed(listen=("http://[::1]:5080", "http://localhost:0"))


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ({}, "allowedHosts"),
        ({}, "behindProxy"),
        ({"behind_proxy": True}, "allowedHosts"),
        ({"allowed_hosts": ("memory.example",)}, "tlsCertificate"),
    ],
)
def test_an_open_door_is_refused_with_advice(values: dict[str, object], hint: str) -> None:
    with pytest.raises(InvalidInputError, match=hint):
        exposed(listen=("http://0.0.0.0:5080",), **values)


def test_an_open_door_with_hosts_and_a_proxy_or_tls_is_fine() -> None:
    hosts = ("memory.example",)
    exposed(listen=("http://0.0.0.0:5080",), allowed_hosts=hosts, behind_proxy=True)
    exposed(listen=("https://0.0.0.0:5443",), allowed_hosts=hosts, tls_certificate="c", tls_key="k")


def test_https_needs_a_certificate_even_on_loopback() -> None:
    with pytest.raises(InvalidInputError, match="tlsCertificate"):
        exposed(listen=("https://127.0.0.1:5443",))
