"""Signing up from a command line: an address in, a trial account with a working key out. One account per address."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.exc import IntegrityError

from whileai_registry.accounts import Account, add_account, normalise_email
from whileai_registry.database import Database
from whileai_registry.errors import InvalidInput, RegistryError
from whileai_registry.keys import NewKey, add_key
from whileai_registry.rates import Rates

LONGEST_NAME = 100


class SignupReason(StrEnum):
    """In the words of the protocol: the published client has a message of its own for each."""

    account_exists = "account_exists"
    invalid_email = "invalid_email"
    too_many_signups = "too_many_signups"


class SignupRefused(RegistryError):
    def __init__(self, reason: SignupReason, message: str, retry_after_seconds: int = 0) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True)
class SignedUp:
    account: Account
    key: NewKey


class Signup:
    def __init__(self, database: Database, rates: Rates) -> None:
        self._database = database
        self._rates = rates

    def create(self, address: str, name: str, *, client: str) -> SignedUp:
        """`client` is where the request came from; the rate limit counts by it, tries that fail included."""
        allowance = self._rates.take("signup", client)
        if not allowance.allowed:
            wait = allowance.retry_after_seconds
            raise SignupRefused(
                SignupReason.too_many_signups, f"too many sign-ups from here; try again in {wait} s", wait
            )
        try:
            email = normalise_email(address)
        except InvalidInput as exc:
            raise SignupRefused(SignupReason.invalid_email, str(exc)) from None
        now = self._database.now()
        shown = name.strip()[:LONGEST_NAME] or email.partition("@")[0]
        try:
            with self._database.write() as connection:
                account = add_account(connection, now, name=shown, email=email, tier="trial")
                return SignedUp(account, add_key(connection, now, account.id, name="signup"))
        except IntegrityError:
            raise SignupRefused(
                SignupReason.account_exists, f"{email} already has an account; sign in with `whileai login`"
            ) from None
