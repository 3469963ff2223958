"""What the page costs to load, and that it stays within its own host and policy."""

from playwright.sync_api import expect

from tests.browser.conftest import People

MOST_BYTES = 120_000


def test_the_first_load_is_small_and_compressed(people: People) -> None:
    person = people()
    sizes: dict[str, int] = {}
    person.page.on(
        "requestfinished",
        lambda request: sizes.update({request.url: request.sizes()["responseBodySize"]}),
    )
    person.sign_in("qms_key_of_the_admin_for_tests")
    person.page.wait_for_load_state("networkidle")

    files = {url: size for url, size in sizes.items() if "/static/" in url or url.endswith("/")}
    assert len(files) > 10
    assert sum(files.values()) < MOST_BYTES


def test_what_was_loaded_once_is_not_sent_again(people: People) -> None:
    person = people.signed_in()
    statuses: dict[str, int] = {}
    person.page.on("response", lambda response: statuses.update({response.url: response.status}))

    person.page.reload()
    expect(person.heading("Overview")).to_be_visible()

    page = person.context.request.get(f"{person.url}/")
    again = person.context.request.get(
        f"{person.url}/", headers={"If-None-Match": page.headers["etag"]}
    )
    assert again.status == 304
    vendored = person.context.request.get(f"{person.url}/static/vendor/preact-11.2.0.js")
    assert "immutable" in vendored.headers["cache-control"]
    assert statuses


def test_the_page_has_the_strict_policy(people: People) -> None:
    person = people()

    answer = person.context.request.get(f"{person.url}/")

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
