"""Sessions of the admin page: the signed-in user and its projects."""

from datetime import datetime

import msgspec

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import NoArguments, Request, Response
from qms.memory.access import AccessTier
from qms.memory.validation import instant_text

OPEN_SESSION = "openSession"
GET_SESSION = "getSession"
CLOSE_SESSION = "closeSession"
CREATE_LINK = "createSignInLink"


class SignIn(Request, frozen=True):
    """A key, or the one-time token of a sign-in link."""

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


class SignInLink(Response, frozen=True):
    """A token for `setup` of `openSession`: valid once, on the server's machine, until the time."""

    setup: str
    expires_utc: str


class SignedOut(Response, frozen=True):
    """The session has ended."""

    ended: bool


@command(
    tier=AccessTier.NONE,
    route="GET /admin/session",
    help="Say who is signed in, with a token for changes",
    after="openSession",
)
def get_session(call: Call, _request: NoArguments) -> SessionAnswer:
    """Return the caller, and the projects that it may open."""
    return SessionAnswer(
        user=call.caller.user,
        tier=call.caller.access.label,
        projects=[
            OpenProject(slug=slug, name=endpoint.title, tier=call.access_to(slug).label)
            for slug, endpoint in call.settings.endpoints.items()
            if call.access_to(slug) >= AccessTier.READER
        ],
    )


@command(
    tier=AccessTier.NONE,
    route="POST /admin/session",
    help="Begin a session with a key, or with the token of the setup link",
    example={"key": "qms_…"},
)
def open_session(call: Call, request: SignIn) -> SessionAnswer:
    """Record the start of a session in the audit log, and return its user."""
    call.record("create", "session by setup link" if request.setup else "session")
    return get_session(call, NoArguments())


@command(
    tier=AccessTier.NONE,
    route="DELETE /admin/session",
    help="End the session",
    destructive=False,
    idempotent=True,
)
def close_session(call: Call, _request: NoArguments) -> SignedOut:
    """Record the end of a session in the audit log."""
    call.record("remove", "session")
    return SignedOut(ended=True)


@command(
    tier=AccessTier.NONE,
    route="POST /admin/session/link",
    help="Create a link that signs you in once, within minutes, on the server's own machine",
    example={},
)
def create_sign_in_link(call: Call, _request: NoArguments) -> SignInLink:
    """Record in the audit log that a link was made; the door makes it."""
    call.record("create", "sign-in link")
    return SignInLink(setup="", expires_utc="")


def with_link(answer: SignInLink, token: str, expires_utc: datetime) -> SignInLink:
    """Return the answer with the link's token and its end."""
    return msgspec.structs.replace(answer, setup=token, expires_utc=instant_text(expires_utc))


def with_token(answer: SessionAnswer, csrf_token: str | None) -> SessionAnswer:
    """Return the answer with the CSRF token of the session."""
    return msgspec.structs.replace(answer, csrf_token=csrf_token)
