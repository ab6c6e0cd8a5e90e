"""What a program sets once for its later calls: the account key, and the models for agent, judge and user."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The values in force. The key stays out of `repr`, so that a log line cannot leak it."""

    agent: Any = None
    judge: Any = None
    simulator: Any = None
    api_key: str | None = None

    def __repr__(self) -> str:
        shown = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "api_key"}
        key = "unset" if self.api_key is None else "set"
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())}, api_key={key})"


_process = Settings()
_block: ContextVar[Settings | None] = ContextVar("whileai_settings", default=None)


def current() -> Settings:
    """The settings of the innermost `context` block, else those of `configure`."""
    return _block.get() or _process


def configure(*, agent: Any = None, judge: Any = None, simulator: Any = None, api_key: str | None = None) -> Settings:
    """Set values for the whole process; what is not named stays as it was.

    >>> configure(judge="vllm:judge@http://127.0.0.1:8000/v1").judge
    'vllm:judge@http://127.0.0.1:8000/v1'
    """
    global _process
    _process = _with(_process, agent=agent, judge=judge, simulator=simulator, api_key=api_key)
    return _process


@contextmanager
def context(
    *, agent: Any = None, judge: Any = None, simulator: Any = None, api_key: str | None = None
) -> Iterator[Settings]:
    """Like `configure`, for the calls inside the `with` block only."""
    inner = _with(current(), agent=agent, judge=judge, simulator=simulator, api_key=api_key)
    token = _block.set(inner)
    try:
        yield inner
    finally:
        _block.reset(token)


def _with(settings: Settings, **named: Any) -> Settings:
    return replace(settings, **{name: value for name, value in named.items() if value is not None})
