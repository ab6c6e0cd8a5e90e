"""Tokens and cost of a run: the sum over its distinct model calls, and null where nothing is told."""

from collections.abc import Callable, Iterable, Sequence

from whileai_dialects.calls import ModelCall
from whileai_dialects.jsontext import structured
from whileai_dialects.prices import price_of
from whileai_dialects.reading import Reading
from whileai_dialects.run import Usage

_FACTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
# Claude's own counts leave the cached tokens out of the input; everybody else's include them.
_EXCLUSIVE = "input_tokens"
_CACHE_PARTS = ("cache_read_tokens", "cache_creation_tokens")


def usage_of(calls: Sequence[ModelCall], outer: Iterable[Reading]) -> Usage:
    """The tokens of a run. When no call tells any, the outermost span that does tells for all of them."""
    told = [usage for call in calls if (usage := _usage(call.readings)) != Usage()]
    if not told:
        for reading in outer:
            usage = _usage([reading])
            if usage != Usage():
                return usage
    return Usage(*(_sum(getattr(usage, field) for usage in told) for field in Usage.__slots__))


def cost_of(
    calls: Sequence[ModelCall], outer: Iterable[Reading], provider: Callable[[ModelCall], str | None]
) -> float | None:
    """The price of a run in dollars: what the spans tell, else by the price table; null when one is unknown."""
    total = 0.0
    priced = False
    for call in calls:
        usage = _usage(call.readings)
        told = call.number("cost")
        if told is None and usage == Usage():
            continue  # a call that failed cost nothing that anybody knows of
        price = told if told is not None else price_of(call_model(call), provider(call), usage)
        if price is None:
            return None
        total += price
        priced = True
    if priced:
        return total
    return next((cost for reading in outer if (cost := reading.number("cost")) is not None), None)


def call_model(call: ModelCall) -> str | None:
    """The model that a price is for: the one that answered, else the one that was asked."""
    return call.text("response_model") or call.text("model")


# Where the four counts stand in a JSON text of tokens, by the words of OpenAI, Anthropic and the tools around them.
_BLOB: tuple[tuple[str, ...], ...] = (
    ("input_tokens", "prompt_tokens", "input"),
    ("output_tokens", "completion_tokens", "output"),
    (
        "cache_read_input_tokens",
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "input_cached_tokens",
    ),
    (
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "output_reasoning_tokens",
    ),
)


def _blob(readings: Sequence[Reading]) -> Usage:
    """The tokens that are told as one JSON text."""
    for reading in readings:
        told = structured(reading.value("usage"))
        if isinstance(told, dict):
            flat = dict(told)
            for key, inner in told.items():
                if isinstance(inner, dict):
                    flat |= {f"{key}.{name}": item for name, item in inner.items()}
            return Usage(*(next((_whole(flat[name]) for name in names if name in flat), None) for names in _BLOB))
    return Usage()


def _usage(readings: Sequence[Reading]) -> Usage:
    counts = [next((n for reading in readings if (n := reading.count(fact)) is not None), None) for fact in _FACTS]
    read = counts[0]
    for reading in readings:
        if read is not None and reading.keys("input_tokens")[:1] == [_EXCLUSIVE]:
            counts[0] = read + sum(_whole(reading.attributes.get(key)) for key in _CACHE_PARTS)
            break
    return _blob(readings) if counts == [None] * len(counts) else Usage(*counts)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
