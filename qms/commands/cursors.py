"""Cursors: positions in a list, signed so that only this process and this list accept them."""

import base64
import binascii
import hashlib
import hmac
from typing import Any

import msgspec

from qms.memory.errors import InvalidInputError, invalid

_SIGNATURE_BYTES = 16
_MAX_CHARACTERS = 4096


class CursorSigner:
    """Makes and reads the cursors of one list: a project, a sort and a filter."""

    def __init__(self, secret: bytes, *bound_to: Any) -> None:
        self._mac = hmac.new(secret, msgspec.json.encode(bound_to, order="sorted"), hashlib.sha256)

    def sign(self, position: Any) -> str:
        """Return the cursor of a position."""
        payload = msgspec.msgpack.encode(position)
        return base64.urlsafe_b64encode(self._signature(payload) + payload).rstrip(b"=").decode()

    def read(self, cursor: str, position_type: Any) -> Any:
        """Return the position of a cursor.

        Raises:
            InvalidInputError: it was not made by this process for this list.
        """
        if len(cursor) > _MAX_CHARACTERS:
            raise _foreign()
        try:
            padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
            data = base64.b64decode(padded, altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error):
            raise _foreign() from None
        signature, payload = data[:_SIGNATURE_BYTES], data[_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(payload)):
            raise _foreign()
        return msgspec.msgpack.decode(payload, type=position_type)

    def _signature(self, payload: bytes) -> bytes:
        mac = self._mac.copy()
        mac.update(payload)
        return mac.digest()[:_SIGNATURE_BYTES]


def _foreign() -> InvalidInputError:
    return invalid("page.cursor", "does not belong to this list: start again without a cursor")
