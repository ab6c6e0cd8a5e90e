"""A span with its log records, and the facts that the table of dialects finds on it.

The attribute keys of a span are looked at once, against an index of the whole table, so that the cost follows the span and not
the table; values are decoded when somebody asks for the fact.
"""

from collections.abc import Mapping, Sequence

from whileai_dialects.attributes import Attributes
from whileai_dialects.events import DETAILS, Told
from whileai_dialects.jsontext import parse_container, structured, unquoted
from whileai_dialects.log import LogRecord
from whileai_dialects.roles import Kind, kind_of
from whileai_dialects.span import Span
from whileai_dialects.table import CONTENT, FACTS
from whileai_dialects.value import Value

_INDEX: dict[str, list[tuple[str, int]]] = {}
_PREFIXES: dict[str, list[tuple[str, int]]] = {}
for _fact in (*FACTS, *CONTENT):
    for _rank, _source in enumerate(_fact.sources):
        _home = _PREFIXES if _source.key.endswith(".") else _INDEX
        _home.setdefault(_source.key, []).append((_fact.name, _rank))
# The first words of flattened keys; anything else needs no prefix search.
_PREFIX_HEADS = tuple(_PREFIXES)

# An empty AnyValue and an empty string tell nothing.
_NOTHING = frozenset((b"", b"\x0a\x00"))
_CLOSED = frozenset((b"",))


class Reading:
    """One span (or one log record that tells a whole call), read through the table."""

    __slots__ = ("_found", "attributes", "events", "kind", "logs", "span")

    def __init__(self, span: Span, logs: Sequence[LogRecord] = (), attributes: Attributes | None = None) -> None:
        self.span = span
        self.logs = logs
        self.attributes = span.attributes if attributes is None else attributes
        # fact -> attribute keys that tell it, best first
        self._found = _scan(self.attributes.raw)
        words = {key: text for key in self._found.get("operation", ()) if (text := self._text(key))}
        self.kind: Kind = "llm" if attributes is not None else kind_of(words, span.name, self._found.keys())
        self.events: list[Told] | None = None

    def has(self, fact: str) -> bool:
        """Whether any attribute tells the fact."""
        return fact in self._found

    def keys(self, fact: str) -> Sequence[str]:
        """The attribute keys that tell the fact, best first; a flattened list is told by its prefix."""
        return self._found.get(fact, ())

    def value(self, fact: str) -> Value:
        """The best value of a fact."""
        for key in self._found.get(fact, ()):
            return self.attributes[key]
        return None

    def text(self, fact: str) -> str | None:
        """The best value of a fact as text."""
        for key in self._found.get(fact, ()):
            text = self._text(key)
            if text:
                return text
        return None

    def number(self, fact: str) -> float | None:
        """The best value of a fact as a number; text that tells a number counts, true and false do not."""
        for key in self._found.get(fact, ()):
            value = number_of(self.attributes[key])
            if value is not None:
                return value
        return None

    def count(self, fact: str) -> int | None:
        """The best value of a fact as a count."""
        value = self.number(fact)
        return int(value) if value is not None and value >= 0 else None

    def told(self) -> list[Told]:
        """The talk that events tell about this span: its own events, its log records, and pydantic-ai's list of events."""
        if self.events is None:
            self.events = _events(self)
        return self.events

    def details(self) -> list[Attributes]:
        """The attributes of records that tell a whole call at once."""
        return [log.attributes for log in self.logs if log.event_name == DETAILS]

    def _text(self, key: str) -> str | None:
        value = self.attributes[key]
        if isinstance(value, str):
            # MLflow writes every attribute as JSON.
            return unquoted(value) if key.startswith("mlflow.") else value
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


def _scan(raw: Mapping[str, bytes]) -> dict[str, list[str]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for key in raw:
        hits = _INDEX.get(key)
        if hits is None:
            if not key.startswith(_PREFIX_HEADS):
                continue
            key = next(prefix for prefix in _PREFIX_HEADS if key.startswith(prefix))
            hits = _PREFIXES[key]
            if hits[0][0] in found and any(known == key for _, known in found[hits[0][0]]):
                continue
        elif raw[key] in _NOTHING:
            continue
        for fact, rank in hits:
            found.setdefault(fact, []).append((rank, key))
    return {fact: [key for _, key in sorted(ranked)] for fact, ranked in found.items()}


def _events(reading: Reading) -> list[Told]:
    told: list[Told] = []
    if reading.span.raw_events or reading.span.events:
        told += [(event.name, dict(event.attributes)) for event in reading.span.events]
    for log in sorted(reading.logs, key=lambda record: record.when):
        body = structured(log.body)
        if isinstance(body, Mapping):
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
                if isinstance(item, Mapping):
                    name = item.get("event.name")
                    told.append((name if isinstance(name, str) else "", item))
    return told
