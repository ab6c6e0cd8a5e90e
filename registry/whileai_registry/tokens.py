"""Random ids and bearer secrets: how they are made, recognised, digested and shown. Stores nothing.

A secret carries 256 random bits, so a plain SHA-256 of it cannot be guessed back; no slow hash is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

KEY_PREFIX = "zp_"
DELEGATED_PREFIX = "zp_dc_"
SESSION_PREFIX = "zp_ss_"

LOOKUP_CHARS = 11  # "zp_" and eight more: selects a row, and leaves at least 13 secret characters of the shortest key
SHORTEST_KEY = 24
LONGEST_KEY = 256

_SECRET_BYTES = 32
_ID_BYTES = 12
_SHAPE = re.compile(rf"{KEY_PREFIX}[!-~]{{1,{LONGEST_KEY - len(KEY_PREFIX)}}}")


def new_id(kind: str) -> str:
    """An identifier such as `ds_5f…`: 96 random bits, unguessable but no secret."""
    return f"{kind}_{secrets.token_hex(_ID_BYTES)}"


def new_secret(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(_SECRET_BYTES)


def looks_like_a_key(text: str) -> bool:
    """Printable ASCII of a sane length; anything else must not even reach a database."""
    return _SHAPE.fullmatch(text) is not None


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same_digest(left: str, right: str) -> bool:
    return hmac.compare_digest(left, right)


def lookup_prefix(secret: str) -> str:
    return secret[:LOOKUP_CHARS]


def masked(prefix: str) -> str:
    """What may be shown of a key after the moment it was made."""
    return f"{prefix}…"
