"""Token ids and log probabilities on the current span, exactly as the sampler saw them."""

from collections.abc import Iterable
from typing import Any

from opentelemetry import trace

from whileai_instrumentation import names
from whileai_instrumentation.errors import UsageError
from whileai_instrumentation.warnings_once import warn


def record_tokens(
    *,
    token_ids: Iterable[int] | None = None,
    logprobs: Iterable[float] | None = None,
    prompt_token_ids: Iterable[int] | None = None,
) -> None:
    """Put what a model read and wrote, token by token, on the current span.

    Lists, arrays and tensors are taken; numbers arrive with all their bits. `logprobs` are those of `token_ids`, one
    each.
    """
    given: dict[str, list[Any] | None] = {
        names.PROMPT_TOKEN_IDS: _whole("prompt_token_ids", prompt_token_ids),
        names.TOKEN_IDS: _whole("token_ids", token_ids),
        names.LOGPROBS: _real("logprobs", logprobs),
    }
    written, probable = given[names.TOKEN_IDS], given[names.LOGPROBS]
    if written is not None and probable is not None and len(written) != len(probable):
        raise UsageError(f"there are {len(written)} token_ids and {len(probable)} logprobs; each token has one")
    span = trace.get_current_span()
    if not span.is_recording():
        warn("no span", "record_tokens() was called outside of a span; put it inside whileai.run or a span of yours")
        return
    for key, numbers in given.items():
        if numbers is not None:
            span.set_attribute(key, numbers)


def _listed(what: str, values: Any) -> list[Any] | None:
    if values is None:
        return None
    plain = values.tolist() if hasattr(values, "tolist") else values  # arrays and tensors
    if isinstance(plain, (str, bytes)) or not isinstance(plain, Iterable):
        raise UsageError(f"{what} must be a list of numbers, not {type(values).__name__}")
    return list(plain)


def _whole(what: str, values: Any) -> list[int] | None:
    listed = _listed(what, values)
    if listed is None:
        return None
    for at, value in enumerate(listed):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise UsageError(f"{what}[{at}] is {value!r}; token ids are whole numbers")
    return [value.__index__() for value in listed]


def _real(what: str, values: Any) -> list[float] | None:
    listed = _listed(what, values)
    if listed is None:
        return None
    try:
        return [float(value) for value in listed]
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{what} must be a flat list of numbers: {problem}") from problem
