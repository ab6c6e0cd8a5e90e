"""What a request can be told instead of an answer.

One base class that carries its status; the leaves are the sentences we say often. The message is for a person: what was
wrong, which item, and the way out. How it goes over the wire is decided in `answers`.
"""

from __future__ import annotations

from collections.abc import Mapping


class ApiError(Exception):
    """Ends the request with this status and message."""

    status = 500

    def __init__(self, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.headers = dict(headers or {})


class BadRequest(ApiError):
    """The request cannot be understood; the message names the parameter or the item."""

    status = 400


class Unauthenticated(ApiError):
    """No key, or one that is not accepted."""

    status = 401


class Forbidden(ApiError):
    """Known who it is, and not allowed: a key without the scope, a link that is not ours, a tier that ends here."""

    status = 403


class Missing(ApiError):
    """There is no such thing in this account. Another account's thing is missing too, never forbidden."""

    status = 404


class Conflict(ApiError):
    """Understood, and not possible as things stand; the message says why."""

    status = 409


class BodyTooLarge(ApiError):
    """More bytes than this route takes."""

    status = 413


class TooOften(ApiError):
    """The same caller did this too many times lately."""

    status = 429

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message, {"retry-after": str(max(1, retry_after))})


class NotNow(ApiError):
    """The same request may work in a moment."""

    status = 503

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message, {"retry-after": str(max(1, round(retry_after)))})
