"""Help: both pages, as text that is laid out, for everybody who is signed in."""

from playwright.sync_api import expect

from tests.browser.conftest import People


def test_both_help_pages_are_read_by_every_tier(people: People) -> None:
    person = people.signed_in("reader")
    person.visit("Help")
    expect(person.page.get_by_role("heading", name="User guide", level=2)).to_be_visible()
    expect(person.page.get_by_role("table").first).to_contain_text("curationTier")

    person.page.get_by_role("tab", name="For agents").click()

    expect(person.page.get_by_role("heading", level=2).first).not_to_have_text("User guide")
    expect(person.page.get_by_role("link", name="OpenAPI")).to_have_attribute(
        "href", "/openapi.json"
    )
