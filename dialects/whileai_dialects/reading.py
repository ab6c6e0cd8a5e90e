"""A span with its log records, and the facts that the table of dialects finds on it.

The attribute keys of a span are looked at once, against an index of the whole table, so that the cost follows the span
and not the table; values are decoded when somebody asks for the fact.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from whileai_dialects.events import DETAILS, Told
from whileai_dialects.jsontext import parse_container, structured, unquoted
from whileai_dialects.log import LogRecord
from whileai_dialects.message import Content, Message
from whileai_dialects.roles import Kind, kind_of, word_kind
from whileai_dialects.span import Span
from whileai_dialects.table import CONTENT, FACTS
from whileai_dialects.value import Value, decode_value

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
_WORD_BYTES = 128  # names and words repeat by the million; what is longer is read each time


class Reading:
    """One span (or one log record that tells a whole call), read through the table."""

    __slots__ = ("_events", "attributes", "calls", "content", "found", "kind", "logs", "said", "span", "time")

    def __init__(self, span: Span, logs: Sequence[LogRecord] = (), record: LogRecord | None = None) -> None:
        self.span = span
        self.logs = logs
        self.attributes = span.attributes if record is None else record.attributes
        # When it was said: as a call began, or as its record was written.
        self.time = (span.start or span.end or span.first_arrival) if record is None else record.when
        raw = self.attributes.raw
        keys = tuple(raw)
        found = _scan(keys) if len(keys) <= _REMEMBERED_KEYS else _scan_keys(keys)
        values = raw.values()
        # For each fact that is told the keys that tell it, best first; a flattened list is told by its prefix.
        # Values are nearly never empty; only then each key is looked at.
        self.found = _without_gaps(found, raw) if _NOTHING[0] in values or _NOTHING[1] in values else found
        self._events: list[Told] | None = None
        self.content: Content | None = None
        # What is new in its input, where somebody found that out without reading all of it.
        self.said: list[Message] | None = None
        told: Kind | None = None
        for key in self.found.get("operation", ()):
            word = raw[key]
            told = _short_word(key, word) if len(word) <= _WORD_BYTES else _told_word(key, word)
            if told is not None:
                break
        self.kind: Kind = "llm" if record is not None else kind_of(told, span.name, found)
        # An agent's span onto which a second instrumentation wrote its model calls.
        self.calls = told == "llm" and self.kind == "agent"

    def has(self, fact: str) -> bool:
        """Whether any attribute tells the fact."""
        return fact in self.found

    def keys(self, fact: str) -> tuple[str, ...]:
        """The attribute keys that tell the fact, best first."""
        return self.found.get(fact, ())

    def value(self, fact: str) -> Value:
        """The best value of a fact."""
        for key in self.found.get(fact, ()):
            if not key.endswith("."):
                return self.attributes[key]
        return None

    def text(self, fact: str) -> str | None:
        """The best value of a fact as text."""
        for key in self.found.get(fact, ()):
            raw = self.attributes.raw[key]
            text = _short_text(raw) if len(raw) <= _WORD_BYTES else text_of_fact(self.attributes[key])
            if text:
                return text
        return None

    def id(self, fact: str) -> str | None:
        """The best value of a fact that hardly ever comes again as text; not worth remembering."""
        for key in self.found.get(fact, ()):
            text = text_of_fact(decode_value(self.attributes.raw[key]))
            if text:
                return text
        return None

    def number(self, fact: str) -> float | None:
        """The best value of a fact as a number; text that tells a number counts, true and false do not."""
        for key in self.found.get(fact, ()):
            number = number_of(self.attributes[key])
            if number is not None:
                return number
        return None

    def count(self, fact: str) -> int | None:
        """The best value of a fact as a count."""
        for key in self.found.get(fact, ()):
            value = decode_value(self.attributes.raw[key])
            number = value if type(value) is int else number_of(value)
            if number is not None:
                return int(number) if 0 <= number < _MANY else None
        return None

    @property
    def silent(self) -> bool:
        """Whether neither an event nor a log record tells of this span."""
        raw = self.attributes.raw
        return not (self.span.events or self.logs or "events" in raw or "all_messages_events" in raw)

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


@lru_cache(maxsize=8192)
def _short_text(raw: bytes) -> str | None:
    return text_of_fact(decode_value(raw))


def _told_word(key: str, raw: bytes) -> Kind | None:
    """The kind that the value of a key tells."""
    word = text_of_fact(decode_value(raw))
    return word_kind(key, word) if word else None


_short_word = lru_cache(maxsize=1024)(_told_word)


def scan(attributes: Mapping[str, bytes]) -> Found:
    """For each fact of the table the keys among these attributes that tell it, best first."""
    keys = tuple(attributes)
    return _scan(keys) if len(keys) <= _REMEMBERED_KEYS else _scan_keys(keys)


def _without_gaps(found: Found, raw: Mapping[str, bytes]) -> Found:
    """What is found without the keys whose values tell nothing."""
    told = {fact: tuple(key for key in keys if raw.get(key) not in _NOTHING) for fact, keys in found.items()}
    return {fact: keys for fact, keys in told.items() if keys}


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
