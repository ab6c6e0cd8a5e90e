"""The price of a call by the maintained table of `genai-prices`; None for a model it does not know."""

from decimal import Decimal
from functools import lru_cache

from genai_prices import Usage as PricedUsage
from genai_prices import calc_price

from whileai_dialects.run import Usage


def price_of(model: str | None, provider: str | None, usage: Usage) -> float | None:
    """Dollars for these tokens; None when the model is unknown or no tokens were told."""
    if not model or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    for name in dict.fromkeys((model, model.rpartition("/")[2])):
        price = _price(name, provider, usage) or _price(name, None, usage)
        if price is not None:
            return float(price)
    return None


@lru_cache(maxsize=4096)
def _price(model: str, provider: str | None, usage: Usage) -> Decimal | None:
    counts = PricedUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_input_tokens,
    )
    try:
        return calc_price(counts, model_ref=model, provider_id=provider).total_price
    except (LookupError, ValueError):
        return None
