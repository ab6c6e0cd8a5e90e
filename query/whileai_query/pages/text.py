"""Making hostile text harmless to look at: what would move, hide or colour its surroundings is shown as what it is.

HTML is the template engine's affair (it escapes everything); this is about characters that survive escaping.
https://trojansource.codes, https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

# Line feed and tab stay. Controls (a terminal's escape among them), marks and overrides of writing direction, invisible
# separators, tag characters, and halves of surrogate pairs, which cannot even be sent.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_NAMES = {"\0": "⟨NUL⟩", "\a": "⟨BEL⟩", "\b": "⟨BS⟩", "\r": "⟨CR⟩", "\x1b": "⟨ESC⟩", "\x7f": "⟨DEL⟩"}

# So much of a text is shown before it is folded, and so much is put into a page at all.
FOLD_CHARS = 900
FOLD_LINES = 18
MOST_CHARS = 48_000
# JSON of at most this length stays on one line.
ONE_LINE_CHARS = 72


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as a page shows it: what is open, what unfolds ('' when nothing is folded), and how long it really is."""

    head: str
    whole: str
    chars: int
    cut: bool


def visible(text: object) -> str:
    """The text with every unseen character spelled out."""
    return _UNSEEN.sub(_spelled, str(text).replace("\r\n", "\n"))


def fold(text: object) -> Folded:
    """The beginning of a long text, and as much of the whole as a page should carry."""
    told = str(text)
    lines = told[: FOLD_CHARS + 1].split("\n", FOLD_LINES)
    short = len(told) <= FOLD_CHARS and len(lines) <= FOLD_LINES
    if short:
        return Folded(visible(told), "", len(told), False)
    head = "\n".join(lines[:FOLD_LINES])[:FOLD_CHARS]
    return Folded(visible(head), visible(told[:MOST_CHARS]), len(told), len(told) > MOST_CHARS)


def plain(value: Any) -> str:
    """A value of a step as text: text as it is, anything else as JSON that a person can read."""
    if isinstance(value, str):
        return value
    short = json.dumps(value, ensure_ascii=False, default=str)
    return short if len(short) <= ONE_LINE_CHARS else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def one_line(text: object, most: int = 200) -> str:
    """The text for a line of a list."""
    words = " ".join(str(text)[: most * 4].split())
    return visible(words if len(words) <= most else words[: most - 1] + "…")


def _spelled(found: re.Match[str]) -> str:
    return _NAMES.get(found[0]) or f"⟨U+{ord(found[0]):04X}⟩"
