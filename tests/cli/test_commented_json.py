import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.cli.commented_json import put, read_object

PLACE = ("servers", "memory")

COMMENTED = """\
{
    // "servers": {"no": 1},
    "inputs": [], /* a
    b */
    "servers": {
        "other": {"url": "http://x//y", "args": ["1",]}, // trailing, "memory": 1
        // "old": {}
    },
}
"""


def test_comments_and_commas_are_read() -> None:
    assert read_object(COMMENTED) == {
        "inputs": [],
        "servers": {"other": {"url": "http://x//y", "args": ["1"]}},
    }


def test_a_new_member_stands_last_and_all_else_stays() -> None:
    assert (
        put(COMMENTED, PLACE, {"url": "u"})
        == """\
{
    // "servers": {"no": 1},
    "inputs": [], /* a
    b */
    "servers": {
        "other": {"url": "http://x//y", "args": ["1",]}, // trailing, "memory": 1
        // "old": {}
        "memory": {
            "url": "u"
        }
    },
}
"""
    )


def test_a_member_that_is_there_is_replaced_in_its_place() -> None:
    text = '{\n\t"servers": {\n\t\t"memory": {"a": 1}, // mine\n\t\t"b": 2\n\t}\n}'

    assert put(text, PLACE, {"a": 2}) == text.replace('{"a": 1}', '{\n\t\t\t"a": 2\n\t\t}')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "{\n}",
        "{ // nothing\n}",
        "{\n  // nothing\n}\n",
        '\ufeff{\n  "a": 1\n}',
        '{\n  "servers": {}\n}',
        '{\n  "servers": { /* none */ }\n}',
        '{"servers": {"other": {"b": [1, 2,]},},} // end\n',
        '{\r\n    "a": 1\r\n}\r\n',
        '{\n  "a": 1 // one\n  , // two\n}',
        '{\n"a\\"//": "/* no */"\n}',
    ],
)
def test_whatever_shape_the_text_has_the_member_gets_there(text: str) -> None:
    before = read_object(text)

    after = put(text, PLACE, {"url": "u"})

    expected = {**before, "servers": {**before.get("servers", {}), "memory": {"url": "u"}}}
    assert read_object(after) == expected
    assert put(after, PLACE, {"url": "u"}) == after


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
    "text", ["[]", "{", '{"servers": []}', '{\n"servers": 1\n}', "{/*", '{"a" 1}']
)
def test_what_is_no_such_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says, nothing is written
        put(text, PLACE, 1)
