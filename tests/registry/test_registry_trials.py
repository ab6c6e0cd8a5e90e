"""A trial account: what it may, what stops it, and how it becomes a lasting one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from registry.conftest import Clock

from whileai_registry import (
    LimitReached,
    NewDataset,
    NotAllowed,
    Overview,
    Refusal,
    Registry,
    SignedUp,
    SignupReason,
    SignupRefused,
    Tokens,
)
from whileai_registry.rates import RULES


@pytest.fixture
def trial(registry: Registry) -> SignedUp:
    return registry.signup.create("Ada@Example.com", "Ada", client="10.0.0.1")


def refusal(call: Callable[[], object]) -> SignupRefused:
    with pytest.raises(SignupRefused) as error:
        call()
    return error.value


def test_signing_up_gives_a_trial_account_and_a_working_key(registry: Registry, trial: SignedUp, clock: Clock) -> None:
    assert (trial.account.email, trial.account.name, trial.account.tier) == ("ada@example.com", "Ada", "trial")
    assert trial.account.expires_at == clock.at + timedelta(days=14)
    limits = trial.account.limits
    assert (limits.daily_input_tokens, limits.daily_output_tokens) == (25_000, 50_000)
    assert (limits.storage_bytes, limits.datasets) == (104_857_600, 10)
    principal = registry.authenticate(trial.key.secret)
    assert principal is not None
    assert (principal.account_id, principal.tier) == (trial.account.id, "trial")


def test_an_address_signs_up_once(registry: Registry, trial: SignedUp) -> None:
    again = refusal(lambda: registry.signup.create(" ADA@example.com", "", client="10.0.0.2"))
    assert again.reason is SignupReason.account_exists
    assert registry.authenticate(trial.key.secret) is not None


def test_what_is_no_address_cannot_sign_up(registry: Registry) -> None:
    assert refusal(lambda: registry.signup.create("ada", "", client="c")).reason is SignupReason.invalid_email


def test_one_client_signs_up_only_so_often(registry: Registry, clock: Clock) -> None:
    for number in range(RULES["signup"].limit):
        registry.signup.create(f"user{number}@example.com", "", client="10.0.0.1")
    clock.advance(minutes=20)
    refused = refusal(lambda: registry.signup.create("more@example.com", "", client="10.0.0.1"))
    assert refused.reason is SignupReason.too_many_signups
    assert refused.retry_after_seconds == 40 * 60
    assert registry.signup.create("more@example.com", "", client="10.0.0.2").account.name == "more"
    clock.advance(minutes=40)
    assert registry.signup.create("later@example.com", "", client="10.0.0.1")


def test_a_trial_ends_and_signing_in_lifts_it(registry: Registry, trial: SignedUp, clock: Clock) -> None:
    credential = registry.delegated.issue(trial.account.id, "sdk", 86_400).credential
    clock.advance(days=14)
    assert registry.authenticate(trial.key.secret) is None
    assert registry.keys.examine(trial.key.secret) is Refusal.trial_expired
    assert registry.authenticate(credential) is None
    lifted = registry.accounts.sign_in("ada@example.com")
    assert (lifted.id, lifted.tier, lifted.expires_at) == (trial.account.id, "standard", None)
    principal = registry.authenticate(trial.key.secret)
    assert principal is not None
    assert principal.tier == "standard"


def test_a_trial_holds_ten_datasets(registry: Registry, trial: SignedUp) -> None:
    made = [registry.datasets.create(trial.account.id, NewDataset(f"set {number}")) for number in range(9)]
    pair = [NewDataset("cut"), NewDataset("cut-holdout", "holdout")]
    with pytest.raises(LimitReached, match="holds 10 datasets") as error:
        registry.datasets.create_ready(trial.account.id, pair)
    assert error.value.limit == "datasets"
    registry.datasets.delete(trial.account.id, made[0].id)
    assert len(registry.datasets.create_ready(trial.account.id, pair)) == 2


def test_a_trial_stores_a_hundred_megabytes(registry: Registry, trial: SignedUp) -> None:
    limit = trial.account.limits.storage_bytes
    assert limit is not None
    first, second = (registry.datasets.create(trial.account.id, NewDataset(name)) for name in ("a", "b"))
    registry.datasets.finalize(trial.account.id, first.id, rows=1, size_bytes=limit - 10, files=["a"])
    with pytest.raises(LimitReached, match="104,857,600 bytes") as error:
        registry.datasets.finalize(trial.account.id, second.id, rows=1, size_bytes=11, files=["b"])
    assert error.value.limit == "storage_bytes"
    assert registry.datasets.get(trial.account.id, second.id) == second
    assert registry.datasets.finalize(trial.account.id, second.id, rows=1, size_bytes=10, files=["b"]).status == "ready"


def test_a_trial_has_a_number_of_tokens_a_day(registry: Registry, trial: SignedUp, clock: Clock) -> None:
    registry.usage.add(trial.account.id, input_tokens=24_999, output_tokens=10)
    registry.usage.ensure_tokens_left(trial.account.id)
    registry.usage.add(trial.account.id, input_tokens=1, output_tokens=0)
    with pytest.raises(LimitReached, match="quota exceeded: daily_input_tokens"):
        registry.usage.ensure_tokens_left(trial.account.id)
    clock.advance(hours=12)
    registry.usage.ensure_tokens_left(trial.account.id)
    assert registry.usage.overview(trial.account.id).today == Tokens(0, 0)


def test_a_lasting_account_has_no_daily_limit(registry: Registry, account: str) -> None:
    registry.usage.add(account, input_tokens=10**12, output_tokens=10**12)
    registry.usage.add(account, input_tokens=10**12, output_tokens=10**12)
    registry.usage.ensure_tokens_left(account)
    assert registry.usage.overview(account).today == Tokens(2 * 10**12, 2 * 10**12)


def test_the_overview_says_what_is_used(registry: Registry, trial: SignedUp) -> None:
    made = registry.datasets.create(trial.account.id, NewDataset("a"))
    registry.datasets.finalize(trial.account.id, made.id, rows=2, size_bytes=77, files=["a"])
    registry.usage.add(trial.account.id, input_tokens=3, output_tokens=4)
    assert registry.usage.overview(trial.account.id) == Overview(trial.account, Tokens(3, 4), 77, 1, 1)


def test_a_taken_address_cannot_be_given_to_another_account(registry: Registry, account: str, trial: SignedUp) -> None:
    with pytest.raises(NotAllowed, match="already belongs to another account"):
        registry.accounts.set_email(account, "ADA@example.com")
    assert registry.accounts.set_email(account, "ops@example.com").email == "ops@example.com"
    assert registry.accounts.sign_in("ops@example.com").id == account
    assert registry.accounts.get(trial.account.id) == trial.account


def test_tidying_forgets_what_expired_and_nothing_else(registry: Registry, account: str, clock: Clock) -> None:
    key = registry.keys.create(account, "lasting")
    registry.devices.start("cli")
    registry.email_codes.request("ada@example.com")
    registry.sessions.open(account)
    registry.rates.take("signup", "somebody")
    registry.delegated.issue(account, "sdk", 3600)
    assert registry.tidy() == 0
    clock.advance(days=16)
    fresh = registry.sessions.open(account)
    assert registry.tidy() == 5
    assert registry.tidy() == 0
    assert registry.authenticate(key.secret) is not None
    assert registry.sessions.find(fresh.token) == fresh.session
