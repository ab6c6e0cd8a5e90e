"""The first key, other keys, and who may come in with one."""

from __future__ import annotations

import pytest
from registry.conftest import Clock
from sqlalchemy import select

from whileai_registry import SCOPES, InvalidInput, LimitReached, Refusal, Registry
from whileai_registry.database import Database
from whileai_registry.tables import keys

GIVEN = "zp_0123456789abcdefghijk"


def test_the_first_start_makes_one_account_with_a_working_key(registry: Registry) -> None:
    first = registry.bootstrap()
    assert first.account_id == "acc_local"
    assert first.api_key is not None
    assert len(first.api_key) >= len("zp_") + 43
    principal = registry.authenticate(first.api_key)
    assert principal is not None
    assert principal.account_id == first.account_id
    assert principal.scopes == frozenset(SCOPES)
    assert principal.tier == "standard"
    assert registry.accounts.get(first.account_id).name == "local"


def test_a_later_start_shows_no_key_and_makes_none(registry: Registry) -> None:
    registry.bootstrap()
    again = registry.bootstrap("zp_" + "another-given-key-of-mine")
    assert again.api_key is None
    assert again.account_id == "acc_local"
    assert len(registry.keys.list_all("acc_local")) == 1


def test_a_given_key_works(registry: Registry) -> None:
    assert registry.bootstrap(GIVEN).api_key == GIVEN
    assert registry.authenticate(GIVEN) is not None


@pytest.mark.parametrize(
    "bad",
    [
        "zp_short",
        "sk_0123456789abcdefghijklm",
        "zp_0123456789abcdefgh ijk",
        "zp_" + "ü" * 30,
        "zp_dc_0123456789abcdefghijk",
        "zp_" + "x" * 300,
    ],
)
def test_a_given_key_that_cannot_be_one_is_refused_and_not_repeated(registry: Registry, bad: str) -> None:
    with pytest.raises(InvalidInput, match="WHILEAI_BOOTSTRAP_KEY must start with zp_") as error:
        registry.bootstrap(bad)
    assert bad not in str(error.value)
    assert registry.bootstrap().api_key is not None


def test_the_records_hold_no_secret(registry: Registry, url: str) -> None:
    secret = registry.bootstrap().api_key
    assert secret is not None
    database = Database(url)
    with database.read() as connection:
        stored = connection.execute(select(keys)).one()
    database.close()
    assert secret not in repr(stored)
    assert secret[20:] not in repr(stored)


def test_a_created_key_is_shown_once_and_masked_ever_after(registry: Registry, account: str, clock: Clock) -> None:
    clock.advance(minutes=1)
    made = registry.keys.create(account, "laptop", ["ingest"])
    assert made.secret.startswith("zp_")
    listed = registry.keys.list_all(account)[0]
    assert listed == made.key
    assert made.secret.startswith(listed.masked.rstrip("…"))
    assert len(listed.masked) < 13
    principal = registry.authenticate(made.secret)
    assert principal is not None
    assert principal.scopes == {"ingest"}
    assert principal.key_id == listed.id


@pytest.mark.parametrize("scopes", [[], ["ingest", "root"]])
def test_scopes_are_some_of_the_four(registry: Registry, account: str, scopes: list[str]) -> None:
    with pytest.raises(InvalidInput, match="scopes must be some of ingest, read, write, admin"):
        registry.keys.create(account, "odd", scopes)


def test_a_revoked_key_stops_and_leaves_the_list(registry: Registry, account: str) -> None:
    made = registry.keys.create(account, "laptop")
    assert registry.keys.revoke(account, made.key.id)
    assert registry.authenticate(made.secret) is None
    assert registry.keys.examine(made.secret) is Refusal.revoked
    assert made.key not in registry.keys.list_all(account)
    assert not registry.keys.revoke(account, made.key.id)
    assert not registry.keys.revoke(account, "key_unknown")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "zp_",
        "nonsense",
        "zp_\x00\x00\x00\x00\x00\x00\x00\x00\x00",
        "zp_\ud800abc",
        "zp_é" + "x" * 30,
        "zp_" + "x" * 10_000,
    ],
)
def test_nonsense_is_nobody_on_either_database(registry: Registry, text: str) -> None:
    registry.bootstrap(GIVEN)
    assert registry.authenticate(text) is None


def test_a_key_that_shares_the_stored_prefix_of_another_is_not_that_key(registry: Registry) -> None:
    registry.bootstrap(GIVEN)
    assert registry.authenticate(GIVEN[:-1] + "X") is None
    assert registry.authenticate(GIVEN + "X") is None
    assert registry.authenticate(GIVEN[:11]) is None


def test_two_keys_with_one_prefix_are_told_apart(
    registry: Registry, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = iter([GIVEN + "-one", GIVEN + "-two"])
    monkeypatch.setattr("whileai_registry.tokens.new_secret", lambda _prefix: next(secrets))
    for made in [registry.keys.create(account, "one"), registry.keys.create(account, "two")]:
        principal = registry.authenticate(made.secret)
        assert principal is not None
        assert principal.key_id == made.key.id


def test_an_account_has_only_so_many_keys(registry: Registry, account: str) -> None:
    limit = registry.accounts.get(account).limits.keys
    made = [registry.keys.create(account, str(number)) for number in range(limit - 1)]
    with pytest.raises(LimitReached, match="revoke one first") as error:
        registry.keys.create(account, "one too many")
    assert error.value.limit == "keys"
    registry.keys.revoke(account, made[0].key.id)
    assert registry.keys.create(account, "room again").secret


def test_an_address_belongs_to_one_account_in_any_spelling(registry: Registry, clock: Clock) -> None:
    first = registry.accounts.sign_in("Ada@Example.com ")
    clock.advance(days=400)
    assert registry.accounts.sign_in("ada@example.COM") == first
    assert first.email == "ada@example.com"
    assert first.expires_at is None
