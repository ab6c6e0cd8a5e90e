"""Tokens and cost of a run: the sum over its distinct model calls, and null where nothing is told."""

from collections.abc import Callable, Iterable, Sequence

from whileai_dialects.calls import ModelCall
from whileai_dialects.jsontext import structured
from whileai_dialects.prices import price_of
from whileai_dialects.reading import Reading
from whileai_dialects.run import Usage

_NONE = Usage()
_NO_KEYS = ("",)
# Claude's own counts leave the cached tokens out of the input; everybody else's include them.
_EXCLUSIVE = "input_tokens"
_CACHE_PARTS = ("cache_read_tokens", "cache_creation_tokens")


def counted(calls: Sequence[ModelCall], outer: Iterable[Reading]) -> list[ModelCall]:
    """The calls that count, for tokens and cost alike: each distinct one that tells any of them.

    When no call does, the outermost span that does stands for all of them.
    """
    telling = [call for call in calls if _tells(_usage(call)) or call.number("cost") is not None]
    if telling:
        return telling
    frames = (ModelCall([reading]) for reading in outer)
    return [call for call in frames if _tells(_usage(call))][:1]


def usage_of(counting: Sequence[ModelCall]) -> Usage:
    """The tokens of the calls that count."""
    return _total([_usage(call) for call in counting])


def cost_of(counting: Sequence[ModelCall], provider: Callable[[ModelCall], str | None]) -> float | None:
    """The price of the calls that count in dollars; what a span tells wins over the table, and None is unknown."""
    prices: list[float] = []
    for call in counting:
        price = call.number("cost")
        if price is None:
            price = price_of(call_model(call), provider(call), _usage(call), call.readings[0].time)
        if price is None:
            return None
        prices.append(price)
    return sum(prices) if prices else None


def call_model(call: ModelCall) -> str | None:
    """The model that a price is for: the one that answered, else the one that was asked."""
    return call.text("response_model") or call.text("model")


# Where the four counts stand in a JSON text of tokens, by the words of OpenAI, Anthropic and the tools around them.
_BLOB: tuple[tuple[str, ...], ...] = (
    ("input_tokens", "prompt_tokens"),
    ("output_tokens", "completion_tokens"),
    (
        "cache_read_input_tokens",
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "input_cached_tokens",
        "input_cache_read",
    ),
    (
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "output_reasoning_tokens",
        "output_reasoning",
    ),
)


def _read(call: ModelCall) -> Usage:
    """The tokens of a call: from its attributes, else from a JSON text of them, else from what its answers carry."""
    read, written = call.count("input_tokens"), call.count("output_tokens")
    cached, thought = call.count("cached_tokens"), call.count("reasoning_tokens")
    if read is not None:
        for reading in call.readings:
            if reading.found.get("input_tokens", _NO_KEYS)[0] == _EXCLUSIVE:
                read += sum(_whole(reading.attributes.get(key)) or 0 for key in _CACHE_PARTS)
                break
    if read is not None or written is not None or cached is not None or thought is not None:
        return Usage(read, written, cached, thought)
    for reading in call.readings:
        told = structured(reading.value("usage"))
        if isinstance(told, dict):
            return _told(told)
    answers = [
        _told(usage)
        for message in call.content.answered
        if message.meta and isinstance(usage := message.meta.get("usage"), dict)
    ]
    return _total(answers)


def _tells(usage: Usage) -> bool:
    return usage.input_tokens is not None or usage.output_tokens is not None or usage != _NONE


def _usage(call: ModelCall) -> Usage:
    usage = call.usage
    if usage is None:
        usage = call.usage = _read(call)
    return usage


def _told(counts: dict[str, object]) -> Usage:
    """Counts in one of the forms that providers give them."""
    if "input" in counts:  # Langfuse splits a count into parts that add up
        counts = counts | {f"{side}_tokens": _parts(counts, side) for side in ("input", "output")}
    flat = dict(counts)
    for key, inner in counts.items():
        if isinstance(inner, dict):
            flat |= {f"{key}.{name}": item for name, item in inner.items()}
    return Usage(*(next((n for name in names if (n := _whole(flat.get(name))) is not None), None) for names in _BLOB))


def _parts(counts: dict[str, object], side: str) -> int | None:
    return _sum(_whole(item) for key, item in counts.items() if key.split("_")[0] == side)


def _total(told: Sequence[Usage]) -> Usage:
    if len(told) == 1:
        return told[0]
    return Usage(
        _sum([usage.input_tokens for usage in told]),
        _sum([usage.output_tokens for usage in told]),
        _sum([usage.cached_input_tokens for usage in told]),
        _sum([usage.reasoning_tokens for usage in told]),
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
