"""The records that need transactions: accounts, keys, agents, datasets and everything that signs a person in."""

from whileai_registry.accounts import Account, normalise_email
from whileai_registry.agents import Agent, agent_key, agent_slug
from whileai_registry.bootstrap import Bootstrap
from whileai_registry.datasets import Dataset, NewDataset
from whileai_registry.errors import (
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    RegistryError,
    RegistryUnavailable,
)
from whileai_registry.keys import SCOPES, Key, NewKey, Principal, Refusal
from whileai_registry.paging import Page
from whileai_registry.registry import Registry
from whileai_registry.signer import CapabilityReason, CapabilityRefused, Signer
from whileai_registry.tiers import LIMITS, Limits, Tier
from whileai_registry.uploads import Upload

__all__ = [
    "LIMITS",
    "SCOPES",
    "Account",
    "Agent",
    "Bootstrap",
    "CapabilityReason",
    "CapabilityRefused",
    "Dataset",
    "InvalidInput",
    "Key",
    "LimitReached",
    "Limits",
    "NewDataset",
    "NewKey",
    "NotAllowed",
    "NotFound",
    "Page",
    "Principal",
    "Refusal",
    "Registry",
    "RegistryError",
    "RegistryUnavailable",
    "Signer",
    "Tier",
    "Upload",
    "agent_key",
    "agent_slug",
    "normalise_email",
]
