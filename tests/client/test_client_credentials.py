"""Which key goes with which call, and where it never goes."""

import json
import stat
from pathlib import Path

import pytest
from client.recording_service import Service

import whileai
import whileai.simulations as wai
from whileai import credentials
from whileai.errors import PlatformError

KEY = "zp_abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def reachable(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("WHILEAI_API_URL", service.url)
    service.answers("GET", "/datasets", {"datasets": []})
    service.answers("GET", "/me", {"tier": "full"})
    return service


def key_of(service: Service) -> str:
    return service.last.headers["x-api-key"]


def test_an_argument_wins_over_everything(reachable: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHILEAI_DELEGATED_CREDENTIAL", "zp_dc_x")
    monkeypatch.setenv("WHILEAI_API_KEY", "zp_environment")
    wai.datasets(api_key="zp_argument")
    assert key_of(reachable) == "zp_argument"
    whileai.account("zp_argument")
    assert key_of(reachable) == "zp_argument"


def test_a_delegated_credential_serves_datasets_but_not_the_account(
    reachable: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHILEAI_DELEGATED_CREDENTIAL", "zp_dc_x")
    monkeypatch.setenv("WHILEAI_API_KEY", "zp_environment")
    wai.datasets()
    assert key_of(reachable) == "zp_dc_x"
    whileai.account()
    assert key_of(reachable) == "zp_environment"


def test_a_configured_key_serves_the_account_but_not_datasets(
    reachable: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHILEAI_API_KEY", "zp_environment")
    whileai.configure(api_key="zp_configured")
    whileai.account()
    assert key_of(reachable) == "zp_configured"
    wai.datasets()
    assert key_of(reachable) == "zp_environment"
    with whileai.context(api_key="zp_block"):
        whileai.account()
        assert key_of(reachable) == "zp_block"
    whileai.account()
    assert key_of(reachable) == "zp_configured"


def test_the_older_name_of_a_variable_counts_when_the_newer_is_empty(
    reachable: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZEROPROOF_API_KEY", "zp_older")
    monkeypatch.setenv("WHILEAI_API_KEY", "")
    wai.datasets()
    assert key_of(reachable) == "zp_older"
    monkeypatch.setenv("WHILEAI_API_KEY", "zp_newer")
    wai.datasets()
    assert key_of(reachable) == "zp_newer"


def test_a_stored_key_is_used_for_its_own_service(reachable: Service) -> None:
    credentials.store({"api_key": KEY, "api_url": reachable.url.replace("127.0.0.1", "LOCALHOST") + "/"})
    wai.datasets()
    assert key_of(reachable) == KEY


@pytest.mark.parametrize("address", ["https://elsewhere.example", "http://127.0.0.1:9", "http://127.0.0.1:port", 7])
def test_a_stored_key_is_never_sent_to_another_service(reachable: Service, address: object) -> None:
    credentials.store({"api_key": KEY, "api_url": address})
    with pytest.raises(PlatformError, match=f"belongs to {address}; set WHILEAI_API_URL"):
        wai.datasets()
    assert reachable.requests == []


def test_a_stored_key_without_an_address_is_used(reachable: Service) -> None:
    credentials.store({"api_key": KEY})
    wai.datasets()
    assert key_of(reachable) == KEY


def test_the_older_home_counts_while_the_current_one_has_no_credentials(
    reachable: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WHILEAI_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".zeroproof").mkdir()
    (tmp_path / ".zeroproof" / "credentials.json").write_text(json.dumps({"api_key": KEY}))
    wai.datasets()
    assert key_of(reachable) == KEY
    assert credentials.path().parent.name == ".zeroproof"
    (tmp_path / ".whileai").mkdir()
    (tmp_path / ".whileai" / "credentials.json").write_text(json.dumps({"api_key": "zp_current"}))
    wai.datasets()
    assert key_of(reachable) == "zp_current"


def test_without_a_key_the_error_names_the_variable_and_the_command() -> None:
    with pytest.raises(PlatformError, match=r"WHILEAI_API_KEY.*`whileai serve`") as caught:
        wai.datasets()
    assert caught.value.status == 401


@pytest.mark.parametrize("text", ["", "{", "[]", '{"api_key": ""}', '{"api_key": 7}'])
def test_a_broken_credentials_file_is_named(text: str) -> None:
    credentials.path().parent.mkdir(parents=True)
    credentials.path().write_text(text)
    with pytest.raises(PlatformError, match=r"credentials\.json holds no api_key"):
        wai.datasets()


def test_the_stored_file_is_for_its_owner_alone_and_leaves_nothing_beside_it() -> None:
    credentials.store({"api_key": KEY, "name": "first"})
    path = credentials.store({"api_key": KEY, "name": "second"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["name"] == "second"
    assert [file.name for file in path.parent.iterdir()] == ["credentials.json"]
    assert credentials.forget()
    assert not credentials.forget()


def test_a_key_never_shows_whole() -> None:
    shown = repr(credentials.Credential(KEY, "api_key=")) + repr(whileai.configure(api_key=KEY))
    assert KEY not in shown
    assert credentials.masked(KEY) == "zp_abcd…wxyz"
    assert credentials.masked("short") == "…"
