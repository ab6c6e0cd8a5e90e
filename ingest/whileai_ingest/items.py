"""What is known of one trace: its spans, log records and gradings, each once, and what a deletion takes away again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from whileai_dialects import Grading, LogRecord, Span

# What an item weighs in the cache beyond its attribute bytes: the objects around them.
_OVERHEAD = 1200


@dataclass(slots=True)
class TraceItems:
    """The latest copy of everything that belongs to one trace. Adding the same item again changes nothing."""

    spans: dict[str, Span] = field(default_factory=dict)
    logs: dict[str, LogRecord] = field(default_factory=dict)
    gradings: dict[tuple[str, str, str, int], Grading] = field(default_factory=dict)
    size: int = 0

    def add_span(self, span: Span) -> None:
        """The copy with the highest version stands; the first arrival is the earliest of all copies."""
        known = self.spans.get(span.span_id)
        if known is not None:
            first = min(known.first_arrival, span.first_arrival)
            winner = span if span.version >= known.version else known
            span = winner if winner.first_arrival == first else replace(winner, first_arrival=first)
            self.size -= weight(known.attributes.raw)
        self.spans[span.span_id] = span
        self.size += weight(span.attributes.raw)

    def add_log(self, log_id: str, record: LogRecord) -> None:
        """A log record is its content: the copy that arrived first stands."""
        known = self.logs.get(log_id)
        if known is None:
            self.size += weight(record.attributes.raw) + len(record.raw_body)
        if known is None or record.version < known.version:
            self.logs[log_id] = record

    def add_grading(self, grading: Grading) -> None:
        self.gradings[grading.name, grading.source, grading.span_id, grading.version] = grading

    def drop(self, version: int) -> None:
        """Forget what arrived up to `version`: the trace was deleted then."""
        self.spans = {key: span for key, span in self.spans.items() if span.version > version}
        self.logs = {key: record for key, record in self.logs.items() if record.version > version}
        self.gradings = {key: grading for key, grading in self.gradings.items() if grading.version > version}
        self.size = sum(weight(span.attributes.raw) for span in self.spans.values()) + sum(
            weight(record.attributes.raw) + len(record.raw_body) for record in self.logs.values()
        )

    def merge(self, other: TraceItems) -> None:
        for span in other.spans.values():
            self.add_span(span)
        for log_id, record in other.logs.items():
            self.add_log(log_id, record)
        for grading in other.gradings.values():
            self.add_grading(grading)

    def told_logs(self) -> list[LogRecord]:
        """The log records in the order of their story, whatever the order they were read or merged in."""
        return sorted(self.logs.values(), key=lambda record: (record.when, record.version))

    @property
    def payload_bytes(self) -> int:
        """The bytes of attributes and bodies, as sent."""
        return self.size - _OVERHEAD * (len(self.spans) + len(self.logs))

    def arrivals(self) -> tuple[int, int]:
        """The first and the last arrival among the items; (0, 0) when there are none."""
        firsts = [span.first_arrival for span in self.spans.values()]
        versions = [*_versions(self.spans.values()), *_versions(self.logs.values()), *_versions(self.gradings.values())]
        return (min(firsts + versions), max(versions)) if versions else (0, 0)

    def completed_at(self, quiet_ns: int) -> int:
        """When the run became complete: its root arrived, or for the first time nothing came for `quiet_ns`.

        May lie in the future, while a run without a root waits. Once past, no later item moves it: a reader that
        pages by it meets each run once. 0 without spans, because log records and gradings alone are no run.
        """
        if not self.spans:
            return 0
        spans = self.spans.values()
        first = min(span.first_arrival for span in spans)
        # A span that comes again is nothing new: of its copies between the first and the last nobody knows any more.
        came = {span.first_arrival for span in spans}
        came |= {record.version for record in self.logs.values() if record.version > first}
        times = sorted(came)
        silent = next((before for before, after in pairwise(times) if after - before > quiet_ns), times[-1])
        rooted = (span.first_arrival for span in spans if not span.parent_span_id)
        return min([silent + quiet_ns, *rooted])


def _versions(items: Iterable[Span | LogRecord | Grading]) -> list[int]:
    return [item.version for item in items]


def weight(attributes: Mapping[str, bytes]) -> int:
    """About how much memory an item with these attributes takes."""
    return _OVERHEAD + sum(map(len, attributes.values()))
