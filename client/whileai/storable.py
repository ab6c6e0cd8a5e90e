"""A run as it may leave the process: with its conversation, and without what only a grader may see."""

from collections.abc import Mapping
from typing import Any

from whileai.conversation import conversation, with_argument_objects
from whileai.rows import SCHEMA_VERSION

PRIVATE = frozenset({"privileged", "principle", "hidden_state", "reference", "rubric", "vector"})


def storable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Row schema v1: `messages` added where they are missing, private keys taken out at any depth."""
    messages = [with_argument_objects(message) for message in conversation(row, strip_think=False)]
    shaped = {"steps": [], "final_text": "", **row, "messages": messages, "schema_version": SCHEMA_VERSION}
    return {key: _scrubbed(value) for key, value in shaped.items() if key not in PRIVATE}


def _scrubbed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _scrubbed(inner) for key, inner in value.items() if key not in PRIVATE}
    if isinstance(value, list | tuple):
        return [_scrubbed(inner) for inner in value]
    return value
