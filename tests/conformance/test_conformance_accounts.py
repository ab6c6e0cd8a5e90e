"""Accounts and keys with both clients: signing up and in, status, delegated credentials, and which key counts."""

from __future__ import annotations

import json
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from conformance.conftest import Platform
from support.peers import Peer, PeerError
from support.person import Person, person_at
from support.service import Service

STATUS = {"published": ["status"], "ours": ["status", "--json"]}
# The published package has this one call in an inner module only.
REVOKE = {
    "published": "importlib.import_module('whileai.simulations.ingest.platform').revoke_delegated_credential",
    "ours": "wai.revoke_delegated_credential",
}
LINK = re.compile(r"http://[^\s]+/device\?code=\S+")


def stored(peer: Peer) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((peer.home / "credentials.json").read_text())
    return told


@pytest.fixture
def newcomer(peer: Peer) -> Peer:
    """Somebody without a key."""
    return replace(peer, key="")


@pytest.fixture
def person(peer: Peer) -> Iterator[Person]:
    """The same account on the pages."""
    with person_at(peer.url) as made:
        made.sign_in_with_key(peer.key)
        yield made


@contextmanager
def waiting_login(peer: Peer, *words: str) -> Iterator[tuple[str, Callable[[], int]]]:
    """`whileai login`, and the link it shows; the second value waits for its exit code."""
    process = peer.begin("login", "--no-browser", *words)
    assert process.stderr is not None
    try:
        said = ""
        while (found := LINK.search(said)) is None:
            line = process.stderr.readline()
            assert line, said
            said += line
        yield found[0].rstrip(".,"), lambda: process.wait(60)
    finally:
        process.kill()
        process.communicate()


def test_signing_up_gives_a_trial_account_and_a_key_that_works(newcomer: Peer, tmp_path: Path) -> None:
    with Service(tmp_path) as own:
        peer = replace(newcomer, url=own.url)
        key = peer("whileai.signup('ana@example.com', name='Ana', out=lambda line: None)")
        assert key.startswith("zp_")
        kept = stored(peer)
        assert (kept["api_key"], kept["api_url"], kept["email"]) == (key, own.url, "ana@example.com")
        assert (kept["tier"], kept["daily_input_tokens"]) == ("trial", 25_000)
        assert stat.S_IMODE((peer.home / "credentials.json").stat().st_mode) == 0o600
        told = peer("whileai.account()")
        assert told["tier"] == "trial"
        assert told["limits"] == {
            "daily_input_tokens": 25_000,
            "daily_output_tokens": 50_000,
            "storage_bytes": 104_857_600,
            "datasets": 10,
        }
        assert told["trial"]["expires_at"] > time.strftime("%Y-%m-%d")
        assert told["trial"]["lift"] == f"{own.url}/sign-in"
        for number in range(10):
            peer("wai.push_rows([dict(a=1)], name)", name=f"set {number}")
        with pytest.raises(PeerError, match="10 datasets"):
            peer("wai.push_rows([dict(a=1)], 'one too many')")

        with pytest.raises(PeerError) as taken:
            peer("whileai.signup('ANA@example.com', out=lambda line: None)")
        with pytest.raises(PeerError):
            peer("whileai.signup('no address', out=lambda line: None)")
        assert "LoginError" in taken.value.kinds
        assert stored(peer)["api_key"] == key
        many = "[whileai.signup(f'bo{number}@example.com', out=lambda line: None) for number in range(6)]"
        with pytest.raises(PeerError) as often:
            peer(many)
        assert "LoginError" in often.value.kinds

        with person_at(own.url) as ana:
            ana.ask_for_code("ana@example.com")
            code = re.findall(r"Your code is (\d+)", own.stderr())[-1]
            ana.redeem("ana@example.com", code)
        lifted = replace(peer, key=key)("whileai.account()")
        assert lifted["tier"] == "standard"
        assert "trial" not in lifted


def test_a_login_waits_for_the_person_and_saves_the_key(newcomer: Peer, person: Person) -> None:
    with waiting_login(newcomer, "--name", "my laptop") as (link, exit_code):
        assert (newcomer.home / "pending-login.json").exists()
        person.decide(link, "approve")
        assert exit_code() == 0
    kept = stored(newcomer)
    assert kept["tier"] == "standard"
    assert not (newcomer.home / "pending-login.json").exists()
    assert newcomer("whileai.account()")["accountId"] == newcomer.account
    keys = json.loads(newcomer.command("keys", "--json").stdout)
    assert {row["name"] for row in keys["keys"]} == {"conformance", "my laptop"}
    assert all(kept["api_key"] not in row["key"] for row in keys["keys"])
    assert keys["limit"] == 100


def test_an_interrupted_login_goes_on_with_the_same_code(newcomer: Peer, person: Person) -> None:
    first = newcomer.command("login", "--no-browser", "--no-wait")
    assert first.returncode == 0, first.stderr
    begun = LINK.search(first.stderr + first.stdout)
    assert begun is not None
    person.decide(begun[0].rstrip(".,"), "approve")
    second = newcomer.command("login", "--no-browser", "--timeout", "20")
    assert second.returncode == 0, second.stderr
    assert newcomer("whileai.account()")["accountId"] == newcomer.account


def test_a_login_that_nobody_approves_stays_pending(newcomer: Peer) -> None:
    done = newcomer.command("login", "--no-browser", "--timeout", "1")
    assert done.returncode == 2
    assert (newcomer.home / "pending-login.json").exists()


def test_a_login_that_is_denied_ends(newcomer: Peer, person: Person) -> None:
    with waiting_login(newcomer) as (link, exit_code):
        person.decide(link, "deny")
        assert exit_code() == 1
    assert not (newcomer.home / "pending-login.json").exists()
    assert not (newcomer.home / "credentials.json").exists()


def test_a_device_that_asks_too_fast_is_told_to_slow_down(newcomer: Peer) -> None:
    codes = httpx.post(f"{newcomer.url}/device/code", json={"name": "fast"}).json()
    body = {name: codes[name] for name in ("device_code", "user_code")}
    told = [httpx.post(f"{newcomer.url}/device/token", json=body).json()["error"] for _ in range(2)]
    assert told == ["authorization_pending", "slow_down"]
    wrong = {**body, "device_code": "something else"}
    assert httpx.post(f"{newcomer.url}/device/token", json=wrong).json() == {"error": "expired_token"}


def test_the_status_shows_which_key_is_in_use_without_showing_it(peer: Peer) -> None:
    shown = json.loads(peer.command(*STATUS[peer.name]).stdout)
    assert (shown["api_url"], shown["configured"], shown["tier"]) == (peer.url, True, "standard")
    assert shown["source"] == "WHILEAI_API_KEY"
    assert peer.key not in json.dumps(shown)


def test_logging_out_removes_the_saved_key(newcomer: Peer, person: Person) -> None:
    with waiting_login(newcomer) as (link, exit_code):
        person.decide(link, "approve")
        assert exit_code() == 0
    assert newcomer("whileai.logout()") is True
    assert not (newcomer.home / "credentials.json").exists()
    with pytest.raises(PeerError):
        newcomer("whileai.account()")


def test_the_account_shows_limits_and_what_is_used(peer: Peer) -> None:
    entry = peer("wai.push_rows([dict(prompt='a')], 'one')")
    told = peer("whileai.account()")
    assert (told["accountId"], told["tier"]) == (peer.account, "standard")
    assert told["usage"]["storage_bytes"] == entry["sizeBytes"]
    assert told["usage"]["datasets"] == 1


def test_a_delegated_credential_works_until_it_is_revoked(peer: Peer, person: Person, platform: Platform) -> None:
    token = person.session_token()
    made = peer("wai.issue_delegated_credential(token, ttl_seconds=600, name='job')", token=token)
    assert made["credential"].startswith("zp_dc_")
    job = replace(peer, key="", environment={"WHILEAI_DELEGATED_CREDENTIAL": made["credential"]})
    assert job("wai.push_rows([dict(a=1)], 'from a job')")["status"] == "ready"
    longer = peer(
        "wai.refresh_delegated_credential(token, credential, ttl_seconds=3600)",
        token=token,
        credential=made["credential"],
    )
    assert longer["expiresAt"] > made["expiresAt"]
    peer(f"{REVOKE[peer.name]}(token, credential)", token=token, credential=made["credential"])
    assert platform.registry.authenticate(made["credential"]) is None


def test_a_delegated_credential_needs_a_signed_in_session(peer: Peer) -> None:
    with pytest.raises(PeerError):
        peer("wai.issue_delegated_credential(key)", key=peer.key)
    with pytest.raises(PeerError):
        peer("wai.issue_delegated_credential(None)")


@pytest.mark.parametrize("call", ["whileai.account()", "wai.datasets()"])
def test_an_argument_wins_over_every_other_key(peer: Peer, call: str) -> None:
    wrong = replace(peer, key="zp_wrong_key_0123456789abcdef")
    with pytest.raises(PeerError):
        wrong(call)
    assert wrong(call.replace("()", "(api_key=key)"), key=peer.key)


def test_data_calls_take_a_delegated_credential_and_account_calls_do_not(peer: Peer, platform: Platform) -> None:
    made = platform.registry.delegated.issue(peer.account, "job", 600).credential
    both = replace(peer, key="zp_wrong_key_0123456789abcdef", environment={"WHILEAI_DELEGATED_CREDENTIAL": made})
    assert both("wai.datasets()")["datasets"] == []
    with pytest.raises(PeerError):
        both("whileai.account()")


def test_account_calls_take_a_configured_key_and_data_calls_do_not(peer: Peer) -> None:
    wrong = replace(peer, key="zp_wrong_key_0123456789abcdef")
    inside = "[(settings, {call}) for context in [whileai.context(api_key=key)] for settings in [context.__enter__()]]"
    leave = "whileai.configure(api_key=None)"
    try:
        told = wrong(inside.format(call="whileai.account()"), key=peer.key)
        assert told[0][1]["accountId"] == peer.account
        with pytest.raises(PeerError):
            wrong(inside.format(call="wai.datasets()"), key=peer.key)
    finally:
        wrong(leave)


def test_the_saved_key_comes_last(peer: Peer, newcomer: Peer, stranger: Peer) -> None:
    kept = {"api_key": stranger.key, "api_url": peer.url}
    (newcomer.home / "credentials.json").write_text(json.dumps(kept))
    assert newcomer("whileai.account()")["accountId"] == stranger.account
    assert peer("whileai.account()")["accountId"] == peer.account


def test_a_revoked_key_is_refused(peer: Peer, platform: Platform) -> None:
    made = platform.registry.keys.create(peer.account, "short")
    platform.registry.keys.revoke(peer.account, made.key.id)
    with pytest.raises(PeerError, match="revoked"):
        peer("wai.datasets(api_key=key)", key=made.secret)


def test_a_key_may_do_only_what_its_scopes_say(peer: Peer, platform: Platform) -> None:
    reader = platform.registry.keys.create(peer.account, "reader", ["read"]).secret
    assert peer("wai.datasets(api_key=key)", key=reader)["datasets"] == []
    with pytest.raises(PeerError, match="scope"):
        peer("wai.push_rows([dict(a=1)], 'x', api_key=key)", key=reader)
