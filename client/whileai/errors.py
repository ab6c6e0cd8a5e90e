"""What can go wrong with the service. A message says what was wrong, with which item, and the way out."""


class PlatformError(RuntimeError):
    """A call to the service failed.

    `status` is the HTTP status, 0 when the service was not reached or not asked; `reason` is the service's own word.
    """

    def __init__(self, message: str, *, status: int = 0, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class LoginError(PlatformError):
    """Signing in, signing up or reading the account failed."""


class WhileIngestError(PlatformError):
    """Traces could not be sent, or were not fit to be sent."""
