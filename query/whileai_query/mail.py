"""How a one-time code reaches a person: by whatever sends mail, or, where nothing does, into the service's own log."""

from __future__ import annotations

from collections.abc import Callable

import structlog

log = structlog.get_logger("mail")

# (address, subject, text)
SendMail = Callable[[str, str, str], None]


def mail_to_log(address: str, subject: str, text: str) -> None:
    """For a service without SMTP: whoever operates it reads the code there and passes it on."""
    log.warning("no SMTP is configured, so this mail goes to the log", to=address, subject=subject, text=text)
