"""What the environment says: variables, the client's home folder, and the base URLs. Read at each call, never kept."""

import os
from pathlib import Path

DEFAULT_URL = "http://127.0.0.1:4318"
PREFIXES = ("WHILEAI_", "ZEROPROOF_")


def variable(name: str) -> str | None:
    """`WHILEAI_<name>`, else the older `ZEROPROOF_<name>`; an empty value counts as unset."""
    return next((value for prefix in PREFIXES if (value := os.environ.get(prefix + name))), None)


def variable_name(name: str) -> str:
    """The spelling under which `name` is set, for messages; the current one when it is not set at all."""
    return next((prefix + name for prefix in PREFIXES if os.environ.get(prefix + name)), PREFIXES[0] + name)


def home() -> Path:
    """The folder of the credentials file. The older folder counts only while the current one holds no credentials."""
    if chosen := variable("HOME"):
        return Path(chosen).expanduser()
    current, older = Path.home() / ".whileai", Path.home() / ".zeroproof"
    if not (current / "credentials.json").exists() and (older / "credentials.json").exists():
        return older
    return current


def api_url() -> str:
    """Where datasets, scores, cuts and the account are."""
    return (variable("API_URL") or DEFAULT_URL).rstrip("/")


def platform_url() -> str:
    """Where tracked agents are; the API's own place unless said otherwise."""
    return (variable("PLATFORM_URL") or api_url()).rstrip("/")


def trace_url() -> str:
    """Where traces are sent; the API's own place unless said otherwise."""
    return (variable("TRACE_URL") or api_url()).rstrip("/")
