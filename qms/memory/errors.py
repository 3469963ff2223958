"""The tree of expected errors, each with its code, HTTP status and exit code.

QmsError
├── InvalidInputError       malformed request or entry; names the field
├── NotAuthenticatedError   no key, or an unknown one
├── NotAllowedError         the caller's tier is too low
├── NotFoundError           no such entry, project, user
├── ConflictError           stale ifVersion, force missing, another job running
├── UnavailableError        model or store not ready; says what to do
├── TooLargeError           request body or quota
├── StorageFullError        disk full or read-only; reads go on
└── RateLimitedError        too many requests; carries the seconds to wait
"""

from typing import Any, ClassVar

UNDECODABLE = (ValueError, RecursionError)
"""What a decoder of msgspec raises for bytes that do not hold the wanted type.

Its own errors are ValueErrors. For bytes that are not UTF-8 it raises UnicodeDecodeError, and for
values that are nested too deeply RecursionError; neither is one of its own errors.
"""


class QmsError(Exception):
    """The root of every expected error."""

    code: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def as_object(self) -> dict[str, Any]:
        """Return the body that every door answers with."""
        return {"error": {"code": self.code, "message": self.message, "details": self.details}}


class InvalidInputError(QmsError):
    """A request or an entry is malformed; `details["field"]` names where."""

    code = "invalidInput"
    http_status = 400
    exit_code = 2


class NotAuthenticatedError(QmsError):
    """No key was given, or an unknown one."""

    code = "notAuthenticated"
    http_status = 401
    exit_code = 3


class NotAllowedError(QmsError):
    """The caller is known, but its access tier is too low."""

    code = "notAllowed"
    http_status = 403
    exit_code = 3


class NotFoundError(QmsError):
    """There is no such entry, project, user or command for this caller."""

    code = "notFound"
    http_status = 404
    exit_code = 4


class ConflictError(QmsError):
    """The state is not the one that the caller assumed."""

    code = "conflict"
    http_status = 409
    exit_code = 5


class UnavailableError(QmsError):
    """A store or a model is not ready; the message says what to do."""

    code = "unavailable"
    http_status = 503
    exit_code = 6


class TooLargeError(QmsError):
    """A request body or a project's quota is exceeded."""

    code = "tooLarge"
    http_status = 413
    exit_code = 2


class StorageFullError(QmsError):
    """The disk is full or read-only: writes are refused, reads go on."""

    code = "storageFull"
    http_status = 507
    exit_code = 6


class RateLimitedError(QmsError):
    """The key sends too many requests; `details["retryAfterSeconds"]` says how long to wait."""

    code = "rateLimited"
    http_status = 429
    exit_code = 6


def invalid(field: str, reason: str, **details: Any) -> InvalidInputError:
    """Return an `InvalidInputError` that names the field and the reason."""
    return InvalidInputError(f"{field}: {reason}", field=field, **details)
