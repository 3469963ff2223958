"""What the server of the page's tests holds."""

from typing import Any

from tests.browser.person import Person
from tests.support.server import Client

HANDMADE = "img[src=x], main svg[onload], iframe, [onerror], a[href^='javascript:']"
"""What the page would hold if stored text had become markup."""


def ids_of(client: Client) -> list[str]:
    """Return the ids of a project, the last changed first."""
    return [item["id"] for item in client("listEntries", page={"size": 200})["items"]]


def empty(client: Client) -> None:
    """Take every entry out of a project."""
    while ids := ids_of(client):
        client("forgetEntries", ids=ids)


def remember(client: Client, title: str, **fields: Any) -> str:
    """Store a fact, or what `fields` make of it, and return its id."""
    entry = {"kind": "fact", "title": title, "body": {"statement": f"{title} is so"}, **fields}
    stored: str = client("upsertEntry", entry=entry)["id"]
    return stored


def lacks_markup(person: Person) -> None:
    """Check that nothing of what is shown has become markup, and that none of it ran."""
    assert person.page.locator(HANDMADE).count() == 0
    assert "Quick Memory Server" in person.page.title()
