"""memoryctl proposals, with a server that asks a scripted model by itself."""

import json

from tests.cli.conftest import Terminal
from tests.support.chat_endpoint import chat_endpoint
from tests.support.waiting import eventually


def test_proposals_are_made_listed_accepted_and_dismissed(server: Terminal) -> None:
    with chat_endpoint() as endpoint:
        endpoint.script = [json.dumps({"tags": ["backups"]})]
        server.edit_settings('baseUrl = ""\n', f'baseUrl = "{endpoint.url}"\n')
        server.edit_settings('model = ""\n# The env', 'model = "m"\n# The env')
        assert "no proposals" in server.ok("proposals", "list").err
        for name in ("one", "two"):
            server.remember(f"restic makes the backups of {name}", "--id", name, "--kind", "task")

        eventually(lambda: len(server.ok("proposals", "list", "--json").json["items"]) == 2)
        first, second = (
            one["id"] for one in server.ok("proposals", "list", "--json").json["items"]
        )
        listed = server.ok("proposals", "list", "--kind", "tags").out
        assert "add backups" in listed
        assert first in listed
        rows = server.ok("proposals", "list", "--format", "toonCompact").out
        assert rows.startswith("count:2|project:default")

        changed = server.ok("proposals", "accept", first).line
        assert server.ok("get", changed, "--json").json["entry"]["tags"] == ["backups"]
        assert "1 dismissed" in server.ok("proposals", "dismiss", second).err
        assert server.ok("proposals", "list", "--json").json["items"] == []
        late = server("proposals", "accept", first)
        assert late.code == 5
        assert "no such proposal" in late.err


def test_a_model_that_hangs_keeps_no_server_from_stopping(server: Terminal) -> None:
    with chat_endpoint() as endpoint:
        endpoint.script = [{"hang": True}]
        server.edit_settings('baseUrl = ""\n', f'baseUrl = "{endpoint.url}"\n')
        server.edit_settings('model = ""\n# The env', 'model = "m"\n# The env')
        server.edit_settings("timeoutSeconds = 20", "timeoutSeconds = 3600")
        server.remember("restic makes the backups", "--id", "one")
        eventually(lambda: endpoint.requests)

        server.stop()

        assert not endpoint.is_ending.is_set()
        assert server.ok("proposals", "list", "--json").json["items"] == []
