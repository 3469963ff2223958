"""Who is signed in, and what that user may do where."""

import msgspec

from qms.domain.access import AccessTier
from qms.service.admin.calls import AdminCall
from qms.service.requests import NoArguments, Request, Response


class SignIn(Request, frozen=True):
    """A key, or the one-time token of the setup link."""

    key: str | None = None
    setup: str | None = None


class OpenProject(Response, frozen=True):
    """A project that the user may open."""

    slug: str
    name: str
    tier: str


class SessionAnswer(Response, frozen=True):
    """Who is signed in; `csrfToken` goes into the header `X-CSRF-Token` of every change."""

    user: str
    tier: str
    projects: list[OpenProject]
    csrf_token: str | None = None


class SignedOut(Response, frozen=True):
    """That the session is over."""

    ended: bool


def get_session(call: AdminCall, _request: NoArguments) -> SessionAnswer:
    """Return who asks, and the projects that are open to that user."""
    return SessionAnswer(
        user=call.caller.user,
        tier=call.caller.access.label,
        projects=[
            OpenProject(slug=slug, name=endpoint.title, tier=call.access_to(slug).label)
            for slug, endpoint in call.settings.endpoints.items()
            if call.access_to(slug) >= AccessTier.READER
        ],
    )


def open_session(call: AdminCall, request: SignIn) -> SessionAnswer:
    """Write down that a session begins, and return whose it is."""
    call.record("create", "session by setup link" if request.setup else "session")
    return get_session(call, NoArguments())


def close_session(call: AdminCall, _request: NoArguments) -> SignedOut:
    """Write down that a session ends."""
    call.record("remove", "session")
    return SignedOut(ended=True)


def with_token(answer: SessionAnswer, csrf_token: str | None) -> SessionAnswer:
    """Return the answer with the token that the session's changes need."""
    return msgspec.structs.replace(answer, csrf_token=csrf_token)
