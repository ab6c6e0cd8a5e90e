"""Secrets of others that we have to be able to read again (a Hub token), encrypted with a key made of our own secret.

Fernet: AES-128 in CBC with an HMAC; a sealed text that was changed, or sealed under another secret, does not open.
"""

from __future__ import annotations

import base64
import hashlib
import hmac

from cryptography.fernet import Fernet, InvalidToken

from whileai_registry.errors import NotAllowed

_PURPOSE = b"whileai-vault"


class Vault:
    """Seals and opens short texts."""

    def __init__(self, secret: bytes) -> None:
        # The secret signs links too, so each use has a key of its own. It is random: one HMAC derives a good key.
        self._fernet = Fernet(base64.urlsafe_b64encode(hmac.digest(secret, _PURPOSE, hashlib.sha256)))

    def seal(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def open(self, sealed: str) -> str:
        """The text. Raises NotAllowed when it was sealed under another secret."""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise NotAllowed(
                "a stored token cannot be read: WHILEAI_SECRET_KEY is not what it was; connect the account again"
            ) from None
