"""A span with its log records, and the facts that the table of dialects finds on it.

The attribute keys of a span are looked at once, against an index of the whole table, so that the cost follows the span
and not the table; values are decoded when somebody asks for the fact.
"""

from collections.abc import Sequence
from functools import lru_cache

from whileai_dialects.events import DETAILS, Told
from whileai_dialects.jsontext import parse_container, structured, unquoted
from whileai_dialects.log import LogRecord
from whileai_dialects.message import Content, Message
from whileai_dialects.roles import Kind, kind_of, told_kind
from whileai_dialects.span import Span, when
from whileai_dialects.table import CONTENT, FACTS
from whileai_dialects.value import Value

Found = dict[str, tuple[str, ...]]

_INDEX: dict[str, list[tuple[str, int]]] = {}
for _fact in (*FACTS, *CONTENT):
    for _rank, _source in enumerate(_fact.sources):
        _INDEX.setdefault(_source.key, []).append((_fact.name, _rank))
# A key that ends in a dot stands for everything below it.
_PREFIXES = tuple(key for key in _INDEX if key.endswith("."))

# An empty AnyValue and an empty string tell nothing.
_NOTHING = (b"", b"\x0a\x00")
_MANY = 2**53  # no call has so many tokens
_REMEMBERED_KEYS = 256  # spans of one instrumentation share their keys; a span with more keys is scanned each time


class Reading:
    """One span (or one log record that tells a whole call), read through the table."""

    __slots__ = ("_events", "_found", "_gaps", "attributes", "calls", "content", "kind", "logs", "said", "span", "time")

    def __init__(self, span: Span, logs: Sequence[LogRecord] = (), record: LogRecord | None = None) -> None:
        self.span = span
        self.logs = logs
        self.attributes = span.attributes if record is None else record.attributes
        # When it was said: as a call began, or as its record was written.
        self.time = when(span)[0] if record is None else record.when
        raw = self.attributes.raw
        self._found = _scan(tuple(raw)) if len(raw) <= _REMEMBERED_KEYS else _scan_keys(tuple(raw))
        # Values are nearly never empty; only then each key is looked at.
        self._gaps = _NOTHING[0] in raw.values() or _NOTHING[1] in raw.values()
        self._events: list[Told] | None = None
        self.content: Content | None = None
        # What is new in its input, where somebody found that out without reading all of it.
        self.said: list[Message] | None = None
        words = {key: text for key in self.keys("operation") if (text := text_of_fact(self.attributes[key]))}
        self.kind: Kind = "llm" if record is not None else kind_of(words, span.name, self._found.keys())
        # An agent's span onto which a second instrumentation wrote its model calls.
        self.calls = self.kind == "agent" and told_kind(words) == "llm"

    def has(self, fact: str) -> bool:
        """Whether any attribute tells the fact."""
        return fact in self._found and bool(self.keys(fact))

    def keys(self, fact: str) -> tuple[str, ...]:
        """The attribute keys that tell the fact, best first; a flattened list is told by its prefix."""
        keys = self._found.get(fact, ())
        if self._gaps:
            raw = self.attributes.raw
            return tuple(key for key in keys if raw.get(key) not in _NOTHING)
        return keys

    def value(self, fact: str) -> Value:
        """The best value of a fact."""
        if fact in self._found:
            for key in self.keys(fact):
                if not key.endswith("."):
                    return self.attributes[key]
        return None

    def text(self, fact: str) -> str | None:
        """The best value of a fact as text."""
        if fact in self._found:
            for key in self.keys(fact):
                text = text_of_fact(self.attributes[key])
                if text:
                    return text
        return None

    def number(self, fact: str) -> float | None:
        """The best value of a fact as a number; text that tells a number counts, true and false do not."""
        if fact in self._found:
            for key in self.keys(fact):
                number = number_of(self.attributes[key])
                if number is not None:
                    return number
        return None

    def count(self, fact: str) -> int | None:
        """The best value of a fact as a count."""
        value = self.number(fact)
        return int(value) if value is not None and 0 <= value < _MANY else None

    def told(self) -> list[Told]:
        """What events tell of this span: its own events, its log records, and pydantic-ai's list of events."""
        if self._events is None:
            self._events = _events(self)
        return self._events

    def details(self) -> list[LogRecord]:
        """The log records that tell a whole call at once."""
        return [log for log in self.logs if log.event_name == DETAILS]


def text_of_fact(value: Value) -> str | None:
    """A scalar fact as text; a structure is none."""
    if isinstance(value, str):
        # MLflow writes every attribute as JSON, also those with other vendors' names.
        return unquoted(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def number_of(value: object) -> float | None:
    """A finite number, from a number or from a text that tells one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if number - number == 0 else None


def _scan_keys(keys: tuple[str, ...]) -> Found:
    found: dict[str, set[tuple[int, str]]] = {}
    for key in keys:
        hits = _INDEX.get(key)
        if hits is None:
            if not key.startswith(_PREFIXES):
                continue
            key = next(prefix for prefix in _PREFIXES if key.startswith(prefix))
            hits = _INDEX[key]
        for fact, rank in hits:
            found.setdefault(fact, set()).add((rank, key))
    return {fact: tuple(key for _, key in sorted(ranked)) for fact, ranked in found.items()}


_scan = lru_cache(maxsize=2048)(_scan_keys)


def _events(reading: Reading) -> list[Told]:
    told: list[Told] = [(event.name, dict(event.attributes)) for event in reading.span.events]
    for log in sorted(reading.logs, key=lambda record: (record.when, record.version)):
        body = structured(log.body)
        if isinstance(body, dict):
            told.append((log.event_name, body))
        elif isinstance(body, str):
            told.append((log.event_name, {"content": body, **log.attributes}))
        else:
            told.append((log.event_name, dict(log.attributes)))
    for key in ("events", "all_messages_events"):
        if key in reading.attributes:
            value = reading.attributes[key]
            listed = parse_container(value) if isinstance(value, str) else value
            for item in listed if isinstance(listed, list) else ():
                if isinstance(item, dict):
                    name = item.get("event.name")
                    told.append((name if isinstance(name, str) else "", item))
    return told
