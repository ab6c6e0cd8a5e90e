"""The scenario of a run: W3C baggage while a block is open, an attribute on every span that begins inside.

Baggage goes where OpenTelemetry's context goes: into asyncio tasks by itself, into threads and child processes by
`carrying`, over HTTP by whatever instrumentation puts `baggage` headers on requests.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token

from opentelemetry import baggage, context
from opentelemetry.context import Context
from opentelemetry.trace import SpanContext

from whileai_instrumentation import names
from whileai_instrumentation.errors import UsageError

CARRIED = (names.SCENARIO, names.EVAL_SET)
_BLOCK = context.create_key("whileai_scenario")


class Scenario:
    """One open block, and the runs that began inside it in this process."""

    def __init__(self, scenario_id: str, eval_set: str | None) -> None:
        self.scenario_id, self.eval_set = scenario_id, eval_set
        self._roots: list[SpanContext] = []

    @property
    def trace_ids(self) -> list[str]:
        """The ids of the runs begun inside, in order."""
        return [f"{root.trace_id:032x}" for root in self._roots]

    @property
    def last_root(self) -> SpanContext | None:
        """Where the run begun last has its root."""
        return self._roots[-1] if self._roots else None

    def began(self, root: SpanContext) -> None:
        """Note a run of this block."""
        self._roots.append(root)


@contextmanager
def scenario(scenario_id: str, *, eval_set: str | None = None) -> Iterator[Scenario]:
    """Every span begun inside belongs to this scenario: runs of one scenario are tries of one task.

    >>> with scenario("refund-042", eval_set="smoke") as block:
    ...     block.trace_ids
    []
    """
    if not isinstance(scenario_id, str) or not scenario_id:
        raise UsageError(f"scenario() takes the scenario's id, a text that is not empty; got {scenario_id!r}")
    block = Scenario(scenario_id, eval_set)
    inside = baggage.set_baggage(names.SCENARIO, scenario_id)
    if eval_set is not None:
        inside = baggage.set_baggage(names.EVAL_SET, str(eval_set), inside)
    token: Token[Context] = context.attach(context.set_value(_BLOCK, block, inside))
    try:
        yield block
    finally:
        context.detach(token)


def open_block(where: Context | None = None) -> Scenario | None:
    """The innermost block that this code runs in."""
    block = context.get_value(_BLOCK, where)
    return block if isinstance(block, Scenario) else None


def carried(where: Context | None) -> Mapping[str, object]:
    """What a span that begins here is to be marked with.

    A framework may begin its spans in a context of its own; then the one that the code runs in says it.
    """
    told = baggage.get_all(where)
    if where is not None and names.SCENARIO not in told:
        told = baggage.get_all()
    return told
