"""Settings of a newer version are shown as comments in an older file, which means what it meant."""

import tomllib

from qms.config.new_settings import with_new_keys
from qms.resources import TEMPLATE_NAME, find_resource

TEMPLATE = """\
[global]
serviceName = "QuickMemoryServer"
# How much is logged.
logLevel = "info"

[global.backup]
keep = 14

[endpoint.shared]
slug = "shared"
"""


def test_a_missing_key_is_added_as_a_comment_at_the_end_of_its_table() -> None:
    text = '[global]\nserviceName = "Mine"\n\n# about backups\n[global.backup]\nkeep = 3\n'

    result = with_new_keys(text, TEMPLATE)

    assert result == (
        '[global]\nserviceName = "Mine"\n# logLevel = "info"\n\n# about backups\n'
        "[global.backup]\nkeep = 3\n"
    )


def test_a_missing_table_is_added_at_the_end() -> None:
    text = '[global]\nserviceName = "Mine"\nlogLevel = "debug"\n'

    assert with_new_keys(text, TEMPLATE) == text + "\n# [global.backup]\n# keep = 14\n"


def test_names_that_people_choose_are_not_suggested() -> None:
    result = with_new_keys("[global]\n", TEMPLATE)

    assert "shared" not in result


def test_again_it_changes_nothing() -> None:
    once = with_new_keys('[global]\r\nserviceName = "Mine"\r\n', TEMPLATE)

    assert with_new_keys(once, TEMPLATE) == once
    assert once.count("\r\n") == once.count("\n")


def test_a_file_that_has_everything_stays_as_it_is() -> None:
    template = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")

    assert with_new_keys(template, template) == template


def test_what_only_looks_like_a_table_moves_no_setting() -> None:
    text = '[global]\nserviceName = """\n[global.backup]\n"""\n'

    result = with_new_keys(text, TEMPLATE)

    assert tomllib.loads(result) == tomllib.loads(text)
