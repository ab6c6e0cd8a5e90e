"""The records that need transactions: accounts, keys, agents, datasets and everything that signs a person in."""

from whileai_registry.accounts import Account, normalise_email
from whileai_registry.agents import Agent, agent_key, agent_slug
from whileai_registry.behaviors import Behavior
from whileai_registry.bootstrap import Bootstrap
from whileai_registry.dataset_states import Mode, Purpose
from whileai_registry.datasets import Dataset, NewDataset
from whileai_registry.delegated import Delegated
from whileai_registry.devices import Collected, DeviceLogin, DeviceStart, Waiting
from whileai_registry.email_codes import Challenge, CodeReason, CodeRefused
from whileai_registry.errors import (
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    RegistryError,
    RegistryUnavailable,
)
from whileai_registry.keys import SCOPES, Key, NewKey, Principal, Refusal
from whileai_registry.live_days import LiveDay
from whileai_registry.paging import Page
from whileai_registry.promotions import Promotion
from whileai_registry.rates import RULES, Allowance
from whileai_registry.registry import Registry
from whileai_registry.run_scores import NewScore, RunScore
from whileai_registry.sessions import NewSession, Session
from whileai_registry.signer import CapabilityReason, CapabilityRefused, Signer
from whileai_registry.signup import SignedUp, SignupReason, SignupRefused
from whileai_registry.tiers import LIMITS, Limits, Tier
from whileai_registry.tracked_runs import STATUSES, NewRun, TrackedRun
from whileai_registry.uploads import Upload
from whileai_registry.usage import Overview, Tokens
from whileai_registry.vault import Vault

__all__ = [
    "LIMITS",
    "RULES",
    "SCOPES",
    "STATUSES",
    "Account",
    "Agent",
    "Allowance",
    "Behavior",
    "Bootstrap",
    "CapabilityReason",
    "CapabilityRefused",
    "Challenge",
    "CodeReason",
    "CodeRefused",
    "Collected",
    "Dataset",
    "Delegated",
    "DeviceLogin",
    "DeviceStart",
    "InvalidInput",
    "Key",
    "LimitReached",
    "Limits",
    "LiveDay",
    "Mode",
    "NewDataset",
    "NewKey",
    "NewRun",
    "NewScore",
    "NewSession",
    "NotAllowed",
    "NotFound",
    "Overview",
    "Page",
    "Principal",
    "Promotion",
    "Purpose",
    "Refusal",
    "Registry",
    "RegistryError",
    "RegistryUnavailable",
    "RunScore",
    "Session",
    "SignedUp",
    "Signer",
    "SignupReason",
    "SignupRefused",
    "Tier",
    "Tokens",
    "TrackedRun",
    "Upload",
    "Vault",
    "Waiting",
    "agent_key",
    "agent_slug",
    "normalise_email",
]
