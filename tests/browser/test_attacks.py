"""What others could try through the browser of somebody who is signed in."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import HANDMADE, ids_of, remember
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
