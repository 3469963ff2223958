"""What the server of the page's tests holds."""

from typing import Any

from tests.support.server import Client


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
