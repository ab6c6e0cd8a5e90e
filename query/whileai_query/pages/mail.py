"""How a one-time code reaches a person: by SMTP, or, where none is configured, through the service's own log."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from urllib.parse import parse_qs, unquote, urlsplit

import structlog

from whileai_query.errors import NotNow

log = structlog.get_logger("mail")

_SECONDS = 20
_PORTS = {"smtp": 587, "smtps": 465}


def send_mail(smtp_url: str | None, address: str, subject: str, text: str) -> None:
    """Send one mail. The URL is `smtp[s]://user:password@host:port?from=address`. Raises `NotNow`."""
    if smtp_url is None:
        # Whoever operates the service reads the code there and passes it on.
        log.warning("no SMTP is configured, so this mail goes to the log", to=address, subject=subject, text=text)
        return
    parts = urlsplit(smtp_url)
    message = EmailMessage()
    message["From"] = parse_qs(parts.query).get("from", [f"while@{parts.hostname}"])[0]
    message["To"] = address
    message["Subject"] = subject
    message.set_content(text)
    try:
        with _connect(parts.scheme, parts.hostname or "localhost", parts.port) as server:
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        log.error("a mail could not be sent", host=parts.hostname, error=str(error))
        raise NotNow("the mail with the code could not be sent; the service's log says why", 60) from None


def _connect(scheme: str, host: str, port: int | None) -> smtplib.SMTP:
    where = port or _PORTS.get(scheme, 25)
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, where, timeout=_SECONDS, context=ssl.create_default_context())
    server = smtplib.SMTP(host, where, timeout=_SECONDS)
    if server.has_extn("starttls"):
        server.starttls(context=ssl.create_default_context())
    return server
