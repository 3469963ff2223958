"""Somebody at the admin page: what they do, and what their browser noticed meanwhile."""

import re
from urllib.parse import quote, urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

_NOTE_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => {
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
});
"""


class Person:
    """One page in a browser profile of its own."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        self.expected: list[str] = []
        context.add_init_script(_NOTE_VIOLATIONS)
        self.page: Page = context.new_page()
        self.page.on("request", self._note_request)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))

    def expects(self, pattern: str) -> None:
        """Say that the browser will complain about something, as with a refusal."""
        self.expected.append(pattern)

    def check_order(self) -> None:
        """Fail when a request left the host, a script failed, or the policy was violated."""
        host = urlsplit(self.url).netloc
        elsewhere = [
            request.url
            for request in self.requests
            if urlsplit(request.url).netloc not in (host, "") and "://" in request.url
        ]
        unexpected = [
            complaint
            for complaint in self.complaints
            if not any(re.search(pattern, complaint) for pattern in self.expected)
        ]
        assert elsewhere == [], elsewhere
        assert unexpected == [], unexpected

    def open(self, place: str = "") -> None:
        """Open a place of the page by its address."""
        self.page.goto(f"{self.url}/{place}")

    def sign_in(self, key: str) -> None:
        """Come in with a key."""
        self.open()
        self.field("API key").fill(key)
        self.press("Sign in")
        expect(self.heading("Overview")).to_be_visible()

    def visit(self, page: str) -> None:
        """Choose a page of the menu."""
        self.page.get_by_role("navigation", name="Pages").get_by_role("link", name=page).click()
        expect(self.heading(page)).to_be_visible()

    def open_entry(self, entry_id: str, project: str = "projA") -> None:
        """Open an entry beside the list."""
        self.open(f"#/entries/{project}?id={quote(entry_id)}")
        expect(self.panel()).to_be_visible()

    def search(self, text: str) -> None:
        """Search the entries that are shown."""
        self.page.get_by_role("searchbox", name="Search entries").fill(text)

    def panel(self) -> Locator:
        """Return the panel of an entry."""
        return self.page.get_by_role("complementary", name="ntry")

    def dialog(self) -> Locator:
        """Return the dialog that is open."""
        return self.page.get_by_role("dialog")

    def rows(self) -> Locator:
        """Return the rows of the list of entries."""
        return self.page.get_by_role("list", name="Entries").get_by_role("listitem")

    def field(self, label: str) -> Locator:
        """Return a field by the whole of its label."""
        return self.page.get_by_label(label, exact=True)

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def write(self, editor: Locator, text: str) -> None:
        """Replace the text of a code editor, which reads a selection made by keys at once."""
        editor.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def heading(self, name: str) -> Locator:
        """Return the heading of a page."""
        return self.page.get_by_role("heading", name=name, level=1)

    def reads(self, text: str) -> None:
        """Wait until the page says something."""
        expect(self.page.get_by_text(text).first).to_be_visible()

    def _note_request(self, request: Request) -> None:
        self.requests.append(request)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} {message.location.get('url', '')}")
