"""What can go wrong with the records: one base, and one leaf per answer a caller can give.

Every message is one sentence that names the item and the way out; the edge may show it to the person as it is.
"""

from __future__ import annotations


class RegistryError(Exception):
    """Base of everything this package raises on purpose."""


class RegistryUnavailable(RegistryError):
    """The database cannot be reached or used; the same call may work later."""


class InvalidInput(RegistryError):
    """A value that no state of the records could accept; the message names the parameter."""


class NotFound(RegistryError):
    """The account has no such thing. Another account's thing is not found either, never forbidden."""


class NotAllowed(RegistryError):
    """The thing is there, but its present state does not permit this."""


class LimitReached(RegistryError):
    """The account's tier ends here; `limit` is the name of the limit as `GET /me` spells it."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit
