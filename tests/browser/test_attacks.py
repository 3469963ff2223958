"""What others could try through the browser of somebody who is signed in."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import HANDMADE, ids_of, lacks_markup, remember
from tests.support.server import Client, ServerProcess

MARKUP = [
    "<img src=x onerror=document.title='owned'>",
    "<svg onload=document.title='owned'>",
    "<script>document.title='owned'</script>",
    "javascript:document.title='owned'",
    '"><iframe srcdoc="<script>parent.document.title=\'owned\'</script>">',
]

FORM = """<!doctype html><form method="post" action="{action}" enctype="text/plain">
<input name='{{"entry":{{"kind":"note","body":"forged","x":"' value='"}}}}'></form>"""


BACKUPS = {
    "items": [
        {
            "project": one,
            "id": one,
            "mode": None,
            "createdUtc": None,
            "entries": None,
            "bytes": None,
        }
        | {"parent": None, "problem": one}
        for one in MARKUP
    ],
    "jobs": [
        {"id": "1", "project": MARKUP[0], "mode": "full", "state": "failed", "reason": one}
        for one in MARKUP
    ],
    "nextRunUtc": None,
    "schedule": {"cadence": MARKUP[0], "timeZone": MARKUP[1], "mode": "full", "keep": 1},
    "version": "0",
}
RECORD = {
    "seq": 1,
    "atUtc": "2026-03-01T12:00:00Z",
    "user": MARKUP[0],
    "agentId": "<b>agent</b>",
    "command": MARKUP[1],
    "project": MARKUP[2],
    "changes": [{"op": MARKUP[3], "id": one, "version": None} for one in MARKUP],
}
"""Answers as a file that somebody tampered with could make the server give."""


@contextmanager
def evil_site(page: str) -> Iterator[str]:
    """Serve one page on this machine, from another origin than the server's."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *arguments: object) -> None:
            """Stay silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{site.server_address[1]}/"
        finally:
            site.shutdown()
            thread.join()


@pytest.mark.attack("56")
def test_markup_in_a_memory_is_text_wherever_it_is_shown(admin: Person, store: Client) -> None:
    for text in MARKUP:
        remember(
            store,
            text,
            body={"statement": text, "justification": text},
            tags=[text[:100]],
            keywords=[text],
            namespace="<b>x",
            source={"type": text, "url": text},
            metadata={text: text},
        )
    titles = set()

    def look() -> None:
        titles.add(admin.page.title())
        assert admin.page.locator(HANDMADE).count() == 0

    admin.visit("Entries")
    expect(admin.rows()).to_have_count(len(MARKUP))
    look()
    admin.search("document title")
    expect(admin.page.locator("mark").first).to_be_visible()
    look()
    for entry_id in ids_of(store):
        admin.open_entry(entry_id)
        for tab in ("Details", "Links", "History", "JSON"):
            admin.page.get_by_role("tab", name=tab).click()
            look()
        admin.press("Edit")
        expect(admin.field("Statement")).to_be_visible()
        look()
    admin.visit("Review")
    expect(admin.page.get_by_role("heading", level=2)).to_be_visible()
    look()
    assert all("Quick Memory Server" in title for title in titles)


@pytest.mark.attack("25")
def test_a_form_of_another_site_changes_nothing(
    people: People, server: ServerProcess, store: Client
) -> None:
    person = people.signed_in()
    person.expects("403|favicon")
    action = f"{server.url}/api/v1/projA/upsertEntry"

    with evil_site(FORM.format(action=action)) as site:
        person.page.goto(site)
        with person.page.expect_navigation() as navigation:
            person.page.locator("form").evaluate("form => form.submit()")
        person.requests.clear()

    answer = navigation.value
    assert answer is not None
    assert answer.status == 403
    assert ids_of(store) == []


@pytest.mark.attack("25")
def test_no_form_of_another_site_reaches_backups_or_the_audit_log(
    people: People, server: ServerProcess, store: Client
) -> None:
    person = people.signed_in()
    person.expects("403|favicon|CORS|ERR_FAILED")
    before = person.context.request.get(f"{server.url}/admin/backups?project=projA").json()

    for path in ("backups", "backups/prune", "backups/projA/restore"):
        page = f'<!doctype html><form method="post" action="{server.url}/admin/{path}"></form>'
        with evil_site(page) as site:
            person.page.goto(site)
            with person.page.expect_navigation() as navigation:
                person.page.locator("form").evaluate("form => form.submit()")
            person.requests.clear()
        answer = navigation.value
        assert answer is not None
        assert answer.status == 403, path
    with evil_site("<!doctype html><title>evil</title>") as site:
        person.page.goto(site)
        read = person.page.evaluate(
            "url => fetch(url, { credentials: 'include' }).then((r) => r.text(), () => 'refused')",
            f"{server.url}/admin/audit",
        )
        person.requests.clear()
    assert read == "refused"

    after = person.context.request.get(f"{server.url}/admin/backups?project=projA").json()
    assert (after["items"], after["jobs"]) == (before["items"], before["jobs"])


@pytest.mark.attack("56")
def test_markup_in_the_audit_log_and_among_backups_is_text(admin: Person) -> None:
    admin.page.route("**/admin/backups*", lambda route: route.fulfill(json=BACKUPS))
    admin.page.route(
        "**/admin/audit?*", lambda route: route.fulfill(json={"items": [RECORD], "nextBefore": 1})
    )

    admin.open("#/backups")
    admin.reads(MARKUP[0])
    lacks_markup(admin)
    admin.open("#/logs?show=audit")
    admin.reads("<b>agent</b>")
    lacks_markup(admin)


@pytest.mark.attack("26")
def test_a_session_opens_nothing_on_mcp(admin: Person) -> None:
    admin.expects("401")

    answer = admin.context.request.post(
        f"{admin.url}/mcp/projA",
        data={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        headers={"Origin": admin.url},
    )

    assert any(cookie["name"] == "qms_session" for cookie in admin.context.cookies())
    assert answer.status == 401
