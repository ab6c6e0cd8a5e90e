"""Accounts elsewhere: one per provider, with a token that only this service's secret opens."""

from __future__ import annotations

import pytest

from whileai_registry import NotAllowed, Registry, Vault

TOKEN = "hf_a_token_of_somebody"


def test_a_connection_is_replaced_and_removed(registry: Registry, account: str) -> None:
    assert registry.connections.find(account, "huggingface") is None
    registry.connections.connect(account, "huggingface", "ana", "sealed 1")
    registry.connections.connect(account, "huggingface", "bo", "sealed 2")
    found = registry.connections.find(account, "huggingface")
    assert found is not None
    assert (found.username, found.sealed) == ("bo", "sealed 2")
    assert registry.connections.disconnect(account, "huggingface")
    assert not registry.connections.disconnect(account, "huggingface")
    assert registry.connections.find(account, "huggingface") is None


def test_a_sealed_token_opens_with_the_same_secret_and_with_no_other() -> None:
    sealed = Vault(b"s" * 32).seal(TOKEN)
    assert TOKEN not in sealed
    assert sealed != Vault(b"s" * 32).seal(TOKEN)
    assert Vault(b"s" * 32).open(sealed) == TOKEN
    with pytest.raises(NotAllowed, match="connect the account again"):
        Vault(b"t" * 32).open(sealed)
    with pytest.raises(NotAllowed):
        Vault(b"s" * 32).open(sealed[:-2] + "xx")
