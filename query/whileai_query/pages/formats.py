"""Numbers as a person reads them. Pure; `–` stands for what is not known, which is not zero."""

from __future__ import annotations

NOTHING = "–"


def duration(milliseconds: float | None) -> str:
    """`0.4 ms`, `830 ms`, `2.3 s`, `1 m 15 s`, `2 h 5 m`."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} m {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} m" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def count(number: float | None) -> str:
    """`1,234`."""
    return NOTHING if number is None else f"{number:,.0f}"


def compact(number: float | None) -> str:
    """`812`, `12.3k`, `4.1M`."""
    if number is None:
        return NOTHING
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            scaled = number / (size if letter != "k" else 1e3)
            return f"{scaled:.1f}{letter}" if scaled < 100 else f"{scaled:.0f}{letter}"
    return f"{number:,.0f}"


def usd(dollars: float | None) -> str:
    """`$12.30`, `$0.042`, `<$0.0001`."""
    if dollars is None:
        return NOTHING
    if dollars >= 1 or dollars == 0:
        return f"${dollars:,.2f}"
    return f"${dollars:.2g}" if dollars >= 0.0001 else "<$0.0001"


def size(number: float | None) -> str:
    """`312 B`, `4.1 kB`, `2.0 MB`."""
    if number is None:
        return NOTHING
    for power, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= power:
            return f"{number / power:.1f} {unit}"
    return f"{number:.0f} B"


def percent(rate: float | None) -> str:
    """`0%`, `0.4%`, `45%`."""
    if rate is None:
        return NOTHING
    shown = rate * 100
    return f"{shown:.1f}%" if 0 < shown < 10 or 99 < shown < 100 else f"{shown:.0f}%"


def share(part: float | None, whole: float | None) -> float | None:
    """A part of a whole; None when there is no whole."""
    return None if not whole or part is None else part / whole


def number(value: float | None) -> str:
    """A score: as short as it can be."""
    return NOTHING if value is None else f"{value:.6g}"


def many(how_many: int, what: str) -> str:
    """`1 run`, `1,204 runs`."""
    return f"{how_many:,} {what}{'' if how_many == 1 else 's'}"
