"""A signed link works for one purpose, one object and one while."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from whileai_registry import CapabilityReason, CapabilityRefused, InvalidInput, Signer

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=10)
SIGNER = Signer(b"s" * 32)


def refusal(purpose: str, token: str, at: datetime = NOW, signer: Signer = SIGNER) -> CapabilityReason:
    with pytest.raises(CapabilityRefused) as error:
        signer.verify(purpose, token, at)
    return error.value.reason


def test_a_link_opens_what_it_was_made_for_until_it_expires() -> None:
    token = SIGNER.sign("upload", "acc_1/upl_1", LATER)
    assert SIGNER.verify("upload", token, NOW) == "acc_1/upl_1"
    assert SIGNER.verify("upload", token, LATER - timedelta(seconds=1)) == "acc_1/upl_1"
    assert refusal("upload", token, LATER) is CapabilityReason.expired


def test_a_link_for_one_purpose_opens_nothing_else() -> None:
    assert refusal("download", SIGNER.sign("upload", "upl_1", LATER)) is CapabilityReason.forged


def test_a_link_of_another_service_opens_nothing() -> None:
    assert refusal("upload", Signer(b"t" * 32).sign("upload", "upl_1", LATER)) is CapabilityReason.forged


def test_no_changed_character_goes_unnoticed() -> None:
    token = SIGNER.sign("upload", "upl_1", LATER)
    for place, char in enumerate(token[:-1]):  # the last one carries two bits that base64 ignores
        other = "A" if char != "A" else "B"
        assert refusal("upload", token[:place] + other + token[place + 1 :]) is CapabilityReason.forged


@pytest.mark.parametrize("token", ["", ".", "a.b", "é", "\x00", "W10." + "A" * 43])
def test_nonsense_is_forged(token: str) -> None:
    assert refusal("upload", token) is CapabilityReason.forged


def test_a_token_fits_into_a_path() -> None:
    assert set(SIGNER.sign("upload", "a/b c?d&é", LATER)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
    )


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 32 bytes; it has 5"):
        Signer(b"short")
