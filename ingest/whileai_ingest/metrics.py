"""What the ingest path counts, for `GET /metrics`. No tenant names: an account is nobody else's business."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class IngestMetrics:
    """The instruments of one service process, registered where they are told."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.accepted = Counter("whileai_items_accepted", "Items acknowledged.", ["signal"], registry=registry)
        self.refused = Counter(
            "whileai_items_refused", "Items refused at the door.", ["signal", "reason"], registry=registry
        )
        self.turned_away = Counter(
            "whileai_requests_turned_away", "Requests answered: come back later.", registry=registry
        )
        self.in_flight = Gauge(
            "whileai_bytes_in_flight", "Decompressed bytes between door and journal.", registry=registry
        )
        self.backlog = Gauge("whileai_journal_backlog_bytes", "Durable, and not yet in ClickHouse.", registry=registry)
        self.written = Counter("whileai_items_written", "Items written to ClickHouse.", ["table"], registry=registry)
        self.batches = Histogram("whileai_write_seconds", "One turn of the writer.", registry=registry)
        self.store_failures = Counter(
            "whileai_store_failures", "Writes that ClickHouse did not take.", registry=registry
        )
        self.quarantined = Counter("whileai_items_quarantined", "Items that proved unwritable.", registry=registry)
        self.unreadable_runs = Counter(
            "whileai_runs_unreadable", "Traces that could not be summarised.", registry=registry
        )
