"""The configuration file is read strictly, and every complaint names the field and the line."""

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from qms.config import toml_file
from qms.config.api_keys import KeyRecord, hash_key
from qms.config.settings import SecretsPolicy, Settings
from qms.config.toml_file import parse
from qms.memory.access import AccessTier
from qms.memory.errors import InvalidInputError, NotFoundError
from qms.memory.limits import Limits
from qms.memory.retention import MAX_SECONDS

NOW = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
SHA = hash_key("a key")


def complaint(text: str) -> tuple[str | None, int | None, str]:
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    details = caught.value.details
    return details.get("field"), details.get("line"), caught.value.message


def test_an_empty_file_gives_every_default() -> None:
    assert parse("") == (Settings(), [])


BAD_VALUES = {
    "global.serviceName": ['""', "1", '"a\\u0000b"', '"\\u202ex"'],
    "global.listen": ["[]", '"http://127.0.0.1:1"'],
    "global.listen[0]": ["[1]"],
    "global.listen[1]": ['["http://127.0.0.1:1", "nonsense"]'],
    "global.allowedHosts[0]": ['["*"]'],
    "global.allowedOrigins[0]": ['["null"]', '["https://x/y"]'],
    "global.behindProxy": ["1", '"true"'],
    "global.tlsCertificate": ['"a\\u0000"', "1"],
    "global.storageRoot": ['""', '"../x"', '"C:\\\\x"'],
    "global.backupRoot": ['""', '"../x"', '"a\\u0000"', '"memorystores"'],
    "global.logLevel": ['"loud"', '"INFO"', "1"],
    "global.logMaxMegabytes": ["0", "10001", "1.5", "true"],
    "global.logMaxDays": ["0", "1.5"],
    "global.logKeep": ["0", '"5"'],
    "global.pollSeconds": ["0", "-1", "nan", "inf", "3601"],
    "global.debounceMilliseconds": ["-1", "60001"],
    "global.embedding": ["3"],
    "global.embedding.model": ['""'],
    "global.embedding.threads": ["-1"],
    "global.reranker.model": ["1"],
    "global.summarizer.model": ['"magic"'],
    "global.backup.cadence": ['"daily"', '"0 3 * *"', '"0 3 * * * *"', '"0 3 * * ;"', '"\\n"'],
    "global.backup.timeZone": ['""', '"../etc"', '"a b"', '"/etc"'],
    "global.backup.mode": ['"partial"'],
    "global.backup.keep": ["0"],
    "global.retention.shortSeconds": ["-1", str(MAX_SECONDS + 1)],
    "global.retention.midSeconds": ["1.5"],
    "global.retention.longSeconds": ["-1"],
    "global.retention.shortExtendSeconds": [str(MAX_SECONDS + 1)],
    "global.retention.midExtendSeconds": ["true"],
    "global.retention.archiveExpired": ["1"],
    "global.rate.requestsPerMinute": ["-1"],
    "llm.baseUrl": ["1", '"api.example"', '"https://a:b@api.example"'],
    "llm.model": ["1"],
    "llm.apiKeyEnv": ['"sk-1234"'],
    "llm.timeoutSeconds": ["0", "nan"],
    "endpoint.a": ["1"],
    "endpoint.a.slug": ['"con"', '"a/b"', '".."', '"а"', '"a\\n"', '"' + "a" * 65 + '"', "1"],
    "endpoint.a.name": ["1", '"' + "n" * 201 + '"'],
    "endpoint.a.description": ["1"],
    "endpoint.a.storagePath": ['"../x"', '"a\\u0000"', '"C:x"', '"\\\\\\\\h\\\\s"'],
    "endpoint.a.includeShared": ['"yes"'],
    "endpoint.a.private": ["0"],
    "endpoint.a.toolsets": ['"core"'],
    "endpoint.a.toolsets[1]": ['["core", "magic"]'],
    "endpoint.a.defaultToolsets": ['["system"]'],
    "endpoint.a.secrets": ['"allow"'],
    "endpoint.a.maxEntries": ["-1"],
    "endpoint.a.maxMegabytes": ["1.5"],
    "users": ["1"],
    "users.a": ["1"],
    "users.a.tier": ['"root"', '"Admin"', "4", "true"],
    "users.a.apiKey": ["1", '"two words"', '"schlüssel"'],
    "users.a.keys": ["1", '"x"'],
    "users.a.keys[0]": ["[1]"],
    "users.a.keys[0].id": [f'[{{ sha256 = "{SHA}", id = 1 }}]'],
    "users.a.keys[0].sha256": ['[{ id = "1", sha256 = "short" }]'],
    "users.a.keys[0].expiresUtc": [
        f'[{{ id = "1", sha256 = "{SHA}", expiresUtc = "soon" }}]',
        f'[{{ id = "1", sha256 = "{SHA}", expiresUtc = 2026-01-01T00:00:00 }}]',
    ],
    "permissions.a": ["1"],
    "permissions.a.alice": ['"owner"', "1"],
}


def as_document(field: str, value: str) -> str:
    table, _, key = field.partition("[")[0].rpartition(".")
    if "keys[" in field:
        table, key = "users.a", "keys"
    return (
        f"# first\n\n[{table}] # third\n{key} = {value}\n" if table else f"#\n\n\n{key} = {value}\n"
    )


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in BAD_VALUES.items() for value in values]
)
def test_a_value_out_of_its_range_is_named_with_its_line(field: str, value: str) -> None:
    named, line, message = complaint(as_document(field, value))
    assert (named, line) == (field, 4)
    assert message.startswith(f"line {line}: {named}: ")


@pytest.mark.parametrize("name", msgspec.json.decode(msgspec.json.encode(Limits())))
def test_every_limit_is_set_by_its_name_and_must_be_positive(name: str) -> None:
    found, _ = parse(f"[global.limits]\n{name} = 7\n")
    assert msgspec.to_builtins(found.global_.limits)[name] == 7
    for value in ("0", "-1", "1.5", str(1 << 31)):
        named, line, _ = complaint(f"[global.limits]\n\n{name} = {value}\n")
        assert (named, line) == (f"global.limits.{name}", 3)


def test_the_line_is_found_however_the_value_is_written() -> None:
    assert complaint("global.logKeep = 0")[1] == 1
    assert complaint("x = 1\nglobal = { logKeep = 0 }")[1] == 2
    assert complaint("[global]\nlogKeep = 1\n[llm]\n[global.backup]\n'keep' = 0")[1] == 5
    assert complaint("[global]\nbackup.keep = 1\nbackup.mode = 'x'")[1] == 3
    assert complaint("[[users.a.keys]]\nid = '1'\nsha256 = 'x'")[1] == 3
    assert complaint('[global]\nserviceName = """\nlogKeep = 0\n"""\nlogKeep = 0')[1] == 5
    assert complaint("[global]\r\n\r\nlogKeep = 0\r\n")[1] == 3


def test_a_missing_part_is_reported_at_what_surrounds_it() -> None:
    named, line, _ = complaint('#\n[users.a]\nkeys = [\n  { id = "1" },\n]\n')
    assert (named, line) == ("users.a.keys[0]", 3)
    named, line, _ = complaint("#\n[global]\ntlsKey = 'k'\n")
    assert (named, line) == ("global.tlsCertificate", 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[global]\nlogKeep = \n", 2),
        ("[global\n", 1),
        ("[global]\nlogKeep = 1\nlogKeep = 2\n", 3),
        ("[global]\n[llm]\n[global]\n", 3),
        ("[users]\nalice = 1\n\n[users.alice]\ntier = 'admin'\n", 4),
        ('[global]\nserviceName = "abc\n', 2),
        ("[global]\n\nkey\n", 3),
        ("a = 1\nb = \0\n", 2),
    ],
)
def test_text_that_is_no_toml_is_reported_with_its_line(text: str, line: int) -> None:
    _, found, message = complaint(text)
    assert found == line
    assert message.startswith(f"line {line}: not valid TOML: ")


def test_deep_nesting_and_half_characters_are_refused() -> None:
    assert "not valid TOML" in complaint("a = " + "[" * 5000)[2]
    assert complaint('a = 1\nb = "\ud800"')[1] == 2


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab=[]{}\".,#\n\r\t\\1-:\0é '_")))
def test_whatever_the_text_the_answer_is_settings_or_a_complaint(text: str) -> None:
    try:
        parse(text)
    except InvalidInputError:
        return


@pytest.mark.parametrize(
    ("text", "field", "line"),
    [
        ("[endpoint.a]\n[endpoint.A]\n", "endpoint.A.slug", 2),
        ("[endpoint.a]\n[endpoint.b]\nslug = 'A'\n", "endpoint.b.slug", 3),
        ("[endpoint.a]\n[endpoint.b]\nstoragePath = 'A'\n", "endpoint.b.storagePath", 3),
        ("[endpoint.a]\n[endpoint.b]\nstoragePath = 'a/.qms'\n", "endpoint.b.storagePath", 3),
        ("[endpoint.a]\nstoragePath = 'x/y'\n[endpoint.x]\n", "endpoint.x.storagePath", 3),
        ("[endpoint.'a b']\n", 'endpoint."a b".slug', 1),
        ("[permissions.a]\n[permissions.A]\n[endpoint.a]\n", "permissions.A", 2),
        ("[users.' x']\n", 'users." x"', 1),
        ('[users."a\\nb"]\n', r'users."a\nb"', 1),
    ],
)
def test_names_that_collide_or_do_not_fit_are_refused(text: str, field: str, line: int) -> None:
    named, found, _ = complaint(text)
    assert (named, found) == (field, line)


def test_a_key_cannot_belong_to_two_users_or_share_its_id() -> None:
    first = f'[users.a]\nkeys = [{{ id = "1", sha256 = "{SHA}" }}]\n[users.b]\n'
    same_hash = first + f'keys = [{{ id = "2", sha256 = "{SHA.upper()}" }}]\n'
    same_id = first + f'keys = [{{ id = "1", sha256 = "{hash_key("other")}" }}]\n'
    assert complaint(same_hash)[:2] == ("users.b.keys[0].sha256", 4)
    assert complaint(same_id)[:2] == ("users.b.keys[0].id", 4)


def test_unknown_keys_are_warned_about_with_line_and_suggestion() -> None:
    text = (
        "[global]\nlogLevl = 'debug'\n[globl]\n[users.a]\nteir = 'admin'\n[global.limits]\nx = 1\n"
    )
    _, warnings = parse(text)
    reasons = {(warning.field, warning.line): warning.reason for warning in warnings}
    assert set(reasons) == {
        ("global.logLevl", 2),
        ("globl", 3),
        ("users.a.teir", 5),
        ("global.limits.x", 7),
    }
    assert "did you mean logLevel?" in reasons["global.logLevl", 2]


def test_permissions_for_nobody_or_nowhere_are_warned_about() -> None:
    _, warnings = parse("[endpoint.a]\n[permissions.a]\nalice = 'none'\n[permissions.b]\n")
    assert [(warning.field, warning.line) for warning in warnings] == [
        ("permissions.a.alice", 3),
        ("permissions.b", 4),
    ]


def test_times_may_be_texts_or_toml_times_and_an_empty_one_is_none() -> None:
    text = f'''[users.a]
keys = [
  {{ id = "1", sha256 = "{hash_key("1")}", createdUtc = 2026-05-01T12:30:00Z, expiresUtc = "" }},
  {{ id = "2", sha256 = "{hash_key("2")}", expiresUtc = "2026-05-01T14:30:00+02:00" }},
]'''
    first, second = parse(text)[0].users["a"].keys
    assert (first.created_utc, first.expires_utc, second.expires_utc) == (NOW, None, NOW)


def test_a_plain_key_works_before_it_is_sealed_and_is_not_kept_in_the_settings() -> None:
    found, warnings = parse("[users.a]\napiKey = 'a-key-written-by-hand'\n")
    assert found.find_key("a-key-written-by-hand", NOW) is not None
    assert "a-key-written-by-hand" not in repr(found)
    assert warnings == []


def test_a_short_plain_key_is_warned_about() -> None:
    _, warnings = parse("[users.a]\napiKey = 'secret'\n")
    assert [(warning.field, warning.line) for warning in warnings] == [("users.a.apiKey", 2)]


def ids() -> Callable[[], str]:
    numbers = iter(range(100))
    return lambda: f"key-{next(numbers)}"


def test_sealing_replaces_a_plain_key_by_its_hash_and_nothing_else() -> None:
    text = "# who\n[users.a] # a\ntier = 'admin'\napiKey = 'a-key-written-by-hand' # mine\n# end\n"
    sealed = toml_file.seal_plain_keys(text, NOW, ids())
    assert sealed is not None
    assert "a-key-written-by-hand" not in sealed
    lines = [line for line in text.splitlines() if "apiKey" not in line]
    assert [line for line in sealed.splitlines() if line in lines] == lines
    assert 'apiKey = "" # mine' in sealed
    found, _ = parse(sealed)
    match = found.find_key("a-key-written-by-hand", NOW)
    assert match is not None
    assert (match.user, match.key_id) == ("a", "key-0")
    assert found.users["a"].keys[0].created_utc == NOW


def test_sealing_again_finds_nothing_to_do() -> None:
    sealed = toml_file.seal_plain_keys("[users.a]\napiKey = 'one'\n[users.b]\n", NOW, ids())
    assert sealed is not None
    assert toml_file.seal_plain_keys(sealed, NOW, ids()) is None


def test_sealing_a_key_that_is_listed_already_only_empties_it() -> None:
    text = f"[users.a]\napiKey = 'one'\nkeys = [{{ id = '1', sha256 = '{hash_key('one')}' }}]\n"
    sealed = toml_file.seal_plain_keys(text, NOW, ids())
    assert sealed == text.replace("'one'", '""', 1)


def test_many_plain_keys_are_sealed_in_a_few_readings_of_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings: list[str] = []
    parse_toml = tomlkit.parse

    def counted(text: str) -> tomlkit.TOMLDocument:
        readings.append(text)
        return parse_toml(text)

    monkeypatch.setattr(tomlkit, "parse", counted)
    names = [f"u{number}" for number in range(90)]
    text = "".join(f"[users.{name}]\napiKey = 'the-key-of-{name}'\n# next\n\n" for name in names)

    sealed = toml_file.seal_plain_keys(text, NOW, ids())

    assert sealed is not None
    assert len(readings) < 8
    found, _ = parse(sealed)
    assert all(found.find_key(f"the-key-of-{name}", NOW) is not None for name in names)
    assert "the-key-of" not in sealed
    assert sealed.count("# next\n\n") == len(names)


KEY_FORMS = [
    "[users.a]\n",
    "[users.a]\nkeys = []  # none\n",
    f"[users.a]\nkeys = [{{ id = '1', sha256 = '{SHA}' }}]\n",
    f"[users.a]\nkeys = [\n  # mine\n  {{ id = '1', sha256 = '{SHA}' }}, # first\n]\n# end\n",
    f"[users.a]\n[[users.a.keys]]\nid = '1'\nsha256 = '{SHA}' # first\n# end\n[llm]\n",
    f"users.a.keys = [{{ id = '1', sha256 = '{SHA}' }}] # dotted\n",
    f"users = {{ a = {{ keys = [{{ id = '1', sha256 = '{SHA}' }}] }} }} # inline\n",
    f"[users]\na = {{ keys = [{{ id = '1', sha256 = '{SHA}' }}] }}\n# end\n",
]


@pytest.mark.parametrize("text", KEY_FORMS)
def test_a_key_is_added_and_removed_in_whatever_form_keys_are_written(text: str) -> None:
    before = parse(text)[0].users["a"].keys
    record = KeyRecord(id="2", sha256=hash_key("two"), label='a "b"\n]', expires_utc=NOW)
    more = toml_file.add_key(text, "a", record)
    assert parse(more)[0].users["a"].keys == (*before, record)
    fewer = toml_file.remove_key(more, "a", "2")
    assert parse(fewer)[0].users["a"].keys == before
    for comment in ("# mine", "# first", "# end", "# none", "# dotted", "# inline"):
        assert (comment in text) == (comment in more) == (comment in fewer)


def test_what_is_not_there_cannot_be_changed_or_removed() -> None:
    text = "[users.a]\n[endpoint.p]\n"
    record = KeyRecord(id="2", sha256=SHA)
    changes: list[Callable[[], str]] = [
        lambda: toml_file.add_key(text, "b", record),
        lambda: toml_file.remove_key(text, "a", "1"),
        lambda: toml_file.remove_user(text, "b"),
        lambda: toml_file.remove_permission(text, "p", "a"),
        lambda: toml_file.remove_endpoint(text, "q"),
    ]
    for change in changes:
        with pytest.raises(NotFoundError):
            change()


def test_an_endpoint_is_changed_in_place_whatever_the_case_of_its_slug() -> None:
    text = "[endpoint.x] # x\nslug = 'Proj'\nname = 'Old' # name\nprivate = true\n\n"
    text += "# users\n[users.a]\n"
    changed = toml_file.set_endpoint(
        text, "PROJ", {"name": "New", "private": None, "secrets": "refuse"}
    )
    assert changed == (
        '[endpoint.x] # x\nslug = \'Proj\'\nname = "New" # name\nsecrets = "refuse"\n\n'
        "# users\n[users.a]\n"
    )
    endpoint = parse(changed)[0].endpoints["Proj"]
    assert (endpoint.name, endpoint.private) == ("New", False)
    assert endpoint.secrets is SecretsPolicy.REFUSE


def test_removing_a_user_takes_its_permissions_and_leaves_the_comments_around() -> None:
    text = """# users
[users.a]
tier = "admin"

# about b
[users.b]
tier = "reader" # b's own

# permissions
[permissions.p]
a = "none"
b = "writer"
[permissions.q]
b = "writer"
# the end
"""
    assert (
        toml_file.remove_user(text, "b")
        == """# users
[users.a]
tier = "admin"

# about b

# permissions
[permissions.p]
a = "none"
[permissions.q]
# the end
"""
    )


def test_removing_an_endpoint_takes_its_permissions() -> None:
    text = "[endpoint.p]\n# about q\n[endpoint.q]\nname = 'Q'\n"
    text += "[permissions.P]\na = 'none'\n[users.a]\n"
    removed = toml_file.remove_endpoint(text, "p")
    assert removed == "# about q\n[endpoint.q]\nname = 'Q'\n[users.a]\n"


def test_permissions_find_their_table_without_case() -> None:
    text = "[endpoint.p]\n[users.a]\n[permissions.P]\n"
    listed = toml_file.set_permission(text, "p", "a", AccessTier.CURATOR)
    assert parse(listed)[0].permissions == {"p": {"a": AccessTier.CURATOR}}
    assert parse(toml_file.remove_permission(listed, "p", "a"))[0].permissions == {"p": {}}


HOSTILE_NAMES = [
    'x"]\n[users.evil]\ntier = "admin"\n#',
    "x']",
    "a.b",
    "a = 1",
    "# comment",
    "[[users]]",
    "back\\slash\\",
    '"""',
    "'''",
    "\\u0022",
    "\ue0000\ue001",
    "é😀",
    "{}",
    "",
]


@pytest.mark.attack("68")
@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_user_name_is_one_user_or_refused(name: str) -> None:
    base = "# keep\n[permissions.p]\n[endpoint.p]\n[users.admin]\ntier = 'admin'\n# end\n"
    text = toml_file.set_user(base, name, AccessTier.READER)
    text = toml_file.set_permission(text, "p", name, AccessTier.WRITER)
    assert "# keep" in text
    assert "# end" in text
    if name == "" or "\n" in name:
        assert complaint(text)[0] is not None
    else:
        found, _ = parse(text)
        assert {user: held.access for user, held in found.users.items()} == {
            "admin": AccessTier.ADMIN,
            name: AccessTier.READER,
        }
        assert found.access(name, "p") is AccessTier.WRITER
    removed = toml_file.remove_user(text, name)
    assert [line for line in removed.splitlines() if line] == base.splitlines()


@pytest.mark.attack("68")
@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_project_name_or_description_is_only_text(name: str) -> None:
    base = "[users.admin]\ntier = 'admin'\n"
    text = toml_file.set_endpoint(base, "p", {"name": name, "description": name})
    found, warnings = parse(text)
    assert (found.endpoints["p"].name, found.endpoints["p"].description) == (name, name)
    assert list(found.users) == ["admin"]
    assert warnings == []
    if name:
        with pytest.raises(InvalidInputError):
            parse(toml_file.set_endpoint(base, name, {}))
