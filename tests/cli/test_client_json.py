import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.cli.client_json import has_comments, put, read_object

PLACE = ("servers", "memory")


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // "servers": {},\n  "a": 1\n}',
        '{"a": 1 /* one\n two */}',
        '{"servers": {"other": {"b": [1, 2,]},},}',
        "\ufeff{ // nothing\n}",
    ],
)
def test_comments_and_trailing_commas_are_seen_and_refused(text: str) -> None:
    assert has_comments(text)
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says, nothing is written
        put(text, PLACE, 1)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"url": "http://x//y"}', '{"a": "/* no */,}"}', "{ // mine\n", "{/*", "{"]
)
def test_what_is_plain_or_broken_has_no_comments(text: str) -> None:
    assert not has_comments(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "{\n}",
        '\ufeff{\n  "a": 1\n}',
        '{\n  "servers": {}\n}',
        '{\r\n    "a": 1\r\n}\r\n',
        '{\n\t"servers": {\n\t\t"memory": {"a": 1},\n\t\t"b": 2\n\t}\n}',
        '{\n"a\\"//": "/* no */"\n}',
    ],
)
def test_whatever_shape_the_text_has_the_member_gets_there(text: str) -> None:
    before = read_object(text)

    after = put(text, PLACE, {"url": "u"})

    expected = {**before, "servers": {**before.get("servers", {}), "memory": {"url": "u"}}}
    assert read_object(after) == expected
    assert put(after, PLACE, {"url": "u"}) == after


def test_indent_line_ends_and_byte_order_mark_stay() -> None:
    text = '\ufeff{\r\n\t"servers": {\r\n\t\t"é": {}\r\n\t}\r\n}\r\n'

    after = put(text, PLACE, 1)

    assert after == text.replace("{}", '{},\r\n\t\t"memory": 1')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(
    st.dictionaries(st.text(), JSON),
    st.dictionaries(st.text(), JSON),
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_other_members_are_as_they_were(
    values: dict[str, object], servers: dict[str, object], indent: str | int | None
) -> None:
    before = {**values, "servers": servers}

    after = read_object(put(json.dumps(before, indent=indent), PLACE, [1]))

    assert after == {**before, "servers": {**servers, "memory": [1]}}


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"servers": []}', '{\n"servers": 1\n}', "{/*", '{"a" 1}', '{"a": 1, "a": 2}'],
)
def test_what_is_no_such_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says, nothing is written
        put(text, PLACE, 1)
