"""A command line signs in through a page, a person through a code; each step has one way forward."""

from __future__ import annotations

import pytest
from registry.conftest import Clock

from whileai_registry import (
    Challenge,
    CodeReason,
    CodeRefused,
    Collected,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    Refusal,
    Registry,
    Waiting,
)
from whileai_registry.devices import INTERVAL_SECONDS, normalise_user_code
from whileai_registry.email_codes import ATTEMPTS


def collected(registry: Registry, device_code: str, user_code: str) -> Collected:
    answer = registry.devices.poll(device_code, user_code)
    assert isinstance(answer, Collected)
    return answer


def test_a_device_waits_is_approved_and_collects_a_working_key(registry: Registry, account: str, clock: Clock) -> None:
    device = registry.devices.start("cli laptop")
    assert (device.expires_in, device.interval) == (900, 5)
    assert registry.devices.poll(device.device_code, device.user_code) is Waiting.authorization_pending
    shown = registry.devices.find(device.user_code.lower().replace("-", " "))
    assert shown is not None
    assert (shown.name, shown.state) == ("cli laptop", "pending")
    registry.devices.approve(account, device.user_code)
    clock.advance(seconds=INTERVAL_SECONDS)
    got = collected(registry, device.device_code, device.user_code)
    assert (got.account_id, got.name) == (account, "local")
    principal = registry.authenticate(got.secret)
    assert principal is not None
    assert principal.account_id == account
    assert "cli laptop" in [key.name for key in registry.keys.list_all(account)]


def test_a_lost_answer_costs_a_key_and_not_the_login(registry: Registry, account: str) -> None:
    device = registry.devices.start("cli")
    registry.devices.approve(account, device.user_code)
    lost = collected(registry, device.device_code, device.user_code)
    second = collected(registry, device.device_code, device.user_code)
    assert registry.keys.examine(lost.secret) is Refusal.revoked
    assert registry.authenticate(second.secret) is not None


def test_a_key_that_a_person_revoked_does_not_come_back(registry: Registry, account: str) -> None:
    device = registry.devices.start("cli")
    registry.devices.approve(account, device.user_code)
    got = collected(registry, device.device_code, device.user_code)
    principal = registry.authenticate(got.secret)
    assert principal is not None
    registry.keys.revoke(account, principal.key_id)
    assert registry.devices.poll(device.device_code, device.user_code) is Waiting.access_denied


def test_a_denied_device_is_told_so(registry: Registry, account: str) -> None:
    device = registry.devices.start("cli")
    registry.devices.deny(account, device.user_code)
    assert registry.devices.poll(device.device_code, device.user_code) is Waiting.access_denied
    with pytest.raises(NotAllowed, match="already denied"):
        registry.devices.approve(account, device.user_code)


def test_a_login_is_approved_by_one_person_only(registry: Registry, account: str, stranger: str) -> None:
    device = registry.devices.start("cli")
    registry.devices.approve(account, device.user_code)
    with pytest.raises(NotAllowed, match="already approved"):
        registry.devices.approve(stranger, device.user_code)
    assert collected(registry, device.device_code, device.user_code).account_id == account


def test_a_device_in_a_hurry_is_slowed_down_more_each_time(registry: Registry, clock: Clock) -> None:
    device = registry.devices.start("cli")

    def poll_after(seconds: float) -> Collected | Waiting:
        clock.advance(seconds=seconds)
        return registry.devices.poll(device.device_code, device.user_code)

    assert poll_after(0) is Waiting.authorization_pending
    assert poll_after(1) is Waiting.slow_down
    assert poll_after(5) is Waiting.slow_down
    assert poll_after(15) is Waiting.authorization_pending
    assert poll_after(14.2) is Waiting.authorization_pending


def test_a_login_expires_before_and_after_its_approval(registry: Registry, account: str, clock: Clock) -> None:
    early, late = registry.devices.start("a"), registry.devices.start("b")
    registry.devices.approve(account, early.user_code)
    clock.advance(minutes=15)
    assert registry.devices.poll(early.device_code, early.user_code) is Waiting.expired_token
    assert registry.devices.poll(late.device_code, late.user_code) is Waiting.expired_token
    assert registry.devices.find(late.user_code) is None
    with pytest.raises(NotFound, match="start it again on the device"):
        registry.devices.approve(account, late.user_code)


def test_a_device_needs_both_of_its_codes(registry: Registry, account: str) -> None:
    mine, other = registry.devices.start("mine"), registry.devices.start("other")
    registry.devices.approve(account, mine.user_code)
    assert registry.devices.poll(mine.user_code, mine.user_code) is Waiting.expired_token
    assert registry.devices.poll(mine.device_code, other.user_code) is Waiting.expired_token
    assert registry.devices.poll("\x00\ud800", "\x00") is Waiting.expired_token


def test_approving_needs_room_for_one_more_key(registry: Registry) -> None:
    account = registry.signup.create("ada@example.com", "", client="test").account.id
    for number in range(4):
        registry.keys.create(account, str(number))
    device = registry.devices.start("cli")
    with pytest.raises(LimitReached, match="has 5 keys"):
        registry.devices.approve(account, device.user_code)
    assert registry.devices.poll(device.device_code, device.user_code) is Waiting.authorization_pending


def test_a_user_code_reads_the_same_however_it_is_typed() -> None:
    assert normalise_user_code(" bcdf ghjk") == normalise_user_code("BCDFGHJK") == "BCDF-GHJK"


def refusal(registry: Registry, challenge: Challenge, code: str) -> CodeReason:
    with pytest.raises(CodeRefused) as error:
        registry.email_codes.redeem(challenge.challenge, code)
    return error.value.reason


def wrong(challenge: Challenge) -> str:
    return f"{(int(challenge.code) + 1) % 10**6:06}"


def test_a_code_proves_its_address_once(registry: Registry) -> None:
    challenge = registry.email_codes.request(" Ada@Example.com")
    assert len(challenge.code) == 6
    spaced = f" {challenge.code[:3]} {challenge.code[3:]}"
    assert registry.email_codes.redeem(challenge.challenge, spaced) == "ada@example.com"
    assert refusal(registry, challenge, challenge.code) is CodeReason.used


def test_a_code_is_spent_after_five_wrong_tries(registry: Registry) -> None:
    challenge = registry.email_codes.request("ada@example.com")
    for _ in range(ATTEMPTS - 1):
        assert refusal(registry, challenge, wrong(challenge)) is CodeReason.wrong
    assert refusal(registry, challenge, wrong(challenge)) is CodeReason.spent
    assert refusal(registry, challenge, challenge.code) is CodeReason.spent


def test_a_code_works_in_the_browser_that_asked_for_it_and_in_no_other(registry: Registry) -> None:
    first, second = registry.email_codes.request("ada@example.com"), registry.email_codes.request("ada@example.com")
    if first.code != second.code:
        assert refusal(registry, second, first.code) is CodeReason.wrong
    assert registry.email_codes.redeem(first.challenge, first.code) == "ada@example.com"
    assert registry.email_codes.redeem(second.challenge, second.code) == "ada@example.com"


def test_a_code_expires(registry: Registry, clock: Clock) -> None:
    challenge = registry.email_codes.request("ada@example.com")
    clock.advance(minutes=10)
    assert refusal(registry, challenge, challenge.code) is CodeReason.expired


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ada",
        "ada@",
        "@example.com",
        "a b@example.com",
        "ada@example",
        "a@b..com",
        "a\n@example.com",
        "x" * 65 + "@example.com",
        "a@" + "x" * 250 + ".com",
    ],
)
def test_what_is_no_address_is_refused(registry: Registry, address: str) -> None:
    with pytest.raises(InvalidInput, match="is not an e-mail address"):
        registry.email_codes.request(address)


@pytest.mark.parametrize("address", ["ada+wai@example.co.uk", "ädä@exämple.de", "a.b-c_d@x-y.io", "o'neil@example.com"])
def test_addresses_of_many_kinds_are_accepted(registry: Registry, address: str) -> None:
    assert registry.email_codes.request(address).email == address


def test_a_session_lasts_until_it_ends_or_expires(registry: Registry, account: str, clock: Clock) -> None:
    first, second = registry.sessions.open(account), registry.sessions.open(account)
    assert registry.sessions.find(first.token) == first.session
    registry.sessions.end(first.token)
    registry.sessions.end(first.token)
    assert registry.sessions.find(first.token) is None
    clock.advance(days=14)
    assert registry.sessions.find(second.token) is None
    assert registry.sessions.find("nonsense\x00") is None


def test_signing_out_everywhere_ends_the_sessions_of_this_account_only(
    registry: Registry, account: str, stranger: str
) -> None:
    other = registry.sessions.open(stranger)
    registry.sessions.open(account)
    registry.sessions.open(account)
    assert registry.sessions.end_all(account) == 2
    assert registry.sessions.find(other.token) == other.session


def test_a_delegated_credential_works_for_a_while_and_cannot_administer(
    registry: Registry, account: str, clock: Clock
) -> None:
    made = registry.delegated.issue(account, "sdk-default", 3600)
    assert made.credential.startswith("zp_dc_")
    principal = registry.authenticate(made.credential)
    assert principal is not None
    assert principal.account_id == account
    assert principal.scopes == {"ingest", "read", "write"}
    assert made.credential not in [key.masked for key in registry.keys.list_all(account)]
    assert len(registry.keys.list_all(account)) == 1
    clock.advance(seconds=3600)
    assert registry.keys.examine(made.credential) is Refusal.expired


def test_refreshing_prolongs_the_same_credential(registry: Registry, account: str, clock: Clock) -> None:
    made = registry.delegated.issue(account, "sdk", 600)
    clock.advance(seconds=500)
    fresh = registry.delegated.refresh(account, made.credential, 600)
    assert (fresh.credential, fresh.id) == (made.credential, made.id)
    clock.advance(seconds=500)
    assert registry.authenticate(made.credential) is not None
    clock.advance(seconds=100)
    with pytest.raises(NotAllowed, match="is expired; issue a new one"):
        registry.delegated.refresh(account, made.credential, 600)


def test_a_revoked_credential_stays_revoked(registry: Registry, account: str) -> None:
    made = registry.delegated.issue(account, "sdk", 600)
    assert registry.delegated.revoke(account, made.credential)
    assert not registry.delegated.revoke(account, made.credential)
    assert registry.keys.examine(made.credential) is Refusal.revoked
    with pytest.raises(NotAllowed, match="is revoked"):
        registry.delegated.refresh(account, made.credential, 600)


def test_an_account_key_is_no_delegated_credential(registry: Registry, account: str) -> None:
    key = registry.keys.create(account, "laptop")
    assert not registry.delegated.revoke(account, key.secret)
    with pytest.raises(NotFound, match="no such delegated credential"):
        registry.delegated.refresh(account, key.secret, 600)
    assert registry.authenticate(key.secret) is not None


@pytest.mark.parametrize("ttl", [0, 59, 86_401, -1])
def test_a_credential_lives_between_a_minute_and_a_day(registry: Registry, account: str, ttl: int) -> None:
    with pytest.raises(InvalidInput, match=f"ttlSeconds must be between 60 and 86400, not {ttl}"):
        registry.delegated.issue(account, "sdk", ttl)
