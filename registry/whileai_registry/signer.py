"""Capabilities in a URL: whoever holds one may do one thing with one object until a moment. Nothing is stored."""

from __future__ import annotations

import hashlib
from datetime import datetime
from enum import StrEnum

from itsdangerous import BadSignature, URLSafeSerializer

from whileai_registry.errors import InvalidInput, RegistryError

SHORTEST_SECRET = 32  # bytes; as many as the digest that signs

_NAMESPACE = "whileai-capability:"
_SHA256 = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}


class CapabilityReason(StrEnum):
    forged = "forged"
    expired = "expired"


class CapabilityRefused(RegistryError):
    def __init__(self, reason: CapabilityReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Signer:
    """Signs (purpose, object id, expiry). A signature for one purpose is worth nothing for another."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < SHORTEST_SECRET:
            raise InvalidInput(f"WHILEAI_SECRET_KEY must have at least {SHORTEST_SECRET} bytes; it has {len(secret)}")
        self._secret = secret

    def sign(self, purpose: str, object_id: str, expires_at: datetime) -> str:
        signed = self._serializer(purpose).dumps([object_id, int(expires_at.timestamp())])
        return signed.decode() if isinstance(signed, bytes) else signed

    def verify(self, purpose: str, token: str, now: datetime) -> str:
        """The object id, or CapabilityRefused."""
        try:
            payload: object = self._serializer(purpose).loads(token)
        except BadSignature:
            raise CapabilityRefused(CapabilityReason.forged, f"this {purpose} link is not one that we signed") from None
        match payload:
            case [str(object_id), int(expiry)] if now.timestamp() < expiry:
                return object_id
            case [str(object_id), int()]:
                raise CapabilityRefused(
                    CapabilityReason.expired, f"this {purpose} link of {object_id} has expired; ask for a new one"
                )
        raise CapabilityRefused(CapabilityReason.forged, f"this {purpose} link is not one that we signed")

    def _serializer(self, purpose: str) -> URLSafeSerializer:
        return URLSafeSerializer(self._secret, salt=_NAMESPACE + purpose, signer_kwargs=_SHA256)
