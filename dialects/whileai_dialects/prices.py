"""The price of a call by the maintained table of `genai-prices`; None for a model it does not know."""

from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

from genai_prices import Usage as PricedUsage
from genai_prices import calc_price
from genai_prices.types import ModelPrice, PriceCalculation

from whileai_dialects.run import Usage

_LAST_SECOND = 2**33  # a clock far in the future is no date
_MILLION = Decimal(1_000_000)
_Rates = tuple[Decimal, Decimal, Decimal | None]


def price_of(model: str | None, provider: str | None, usage: Usage, at: int) -> float | None:
    """Dollars for these tokens at a time (nanoseconds); None when the model is unknown or no tokens were told."""
    if not model or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    priced = _priced(model, provider)
    if priced is None:
        return None
    name, vendor, rates = priced
    return float(_by_table(name, vendor, usage, at) if rates is None else _by_rates(rates, usage))


@lru_cache(maxsize=4096)
def _priced(model: str, provider: str | None) -> tuple[str, str | None, _Rates | None] | None:
    """The names under which the table knows a model, and its rates where they are flat."""
    for name in dict.fromkeys((model, model.rpartition("/")[2])):
        for vendor in dict.fromkeys((provider, None)):
            known = _known(name, vendor)
            if known is not None:
                return name, vendor, _flat_rates(known)
    return None


def _known(model: str, provider: str | None) -> PriceCalculation | None:
    try:
        return calc_price(PricedUsage(input_tokens=1), model_ref=model, provider_id=provider)
    except (LookupError, ValueError):
        return None


def _flat_rates(known: PriceCalculation) -> _Rates | None:
    """Dollars per million tokens read, written and read from a cache, where they depend on nothing else.

    Most models' prices are flat, and the table's own way takes a hundred times as long as three multiplications.
    """
    price = known.model_price
    fresh, answer, again = price.input_mtok, price.output_mtok, price.cache_read_mtok
    if not isinstance(known.model.prices, ModelPrice) or price.requests_kcount is not None:
        return None
    if isinstance(fresh, Decimal) and isinstance(answer, Decimal) and isinstance(again, Decimal | None):
        return fresh, answer, again
    return None


def _by_rates(rates: _Rates, usage: Usage) -> Decimal:
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    cached = min(usage.cached_input_tokens or 0, read)
    fresh, answer, again = rates
    return ((read - cached) * fresh + cached * (fresh if again is None else again) + written * answer) / _MILLION


@lru_cache(maxsize=4096)
def _by_table(model: str, provider: str | None, usage: Usage, at: int) -> Decimal:
    read = usage.input_tokens
    cached = usage.cached_input_tokens if read is None else min(usage.cached_input_tokens or 0, read)
    counts = PricedUsage(input_tokens=read, output_tokens=usage.output_tokens, cache_read_tokens=cached)
    when = datetime.fromtimestamp(min(at // 10**9, _LAST_SECOND), UTC)
    return calc_price(counts, model_ref=model, provider_id=provider, genai_request_timestamp=when).total_price
