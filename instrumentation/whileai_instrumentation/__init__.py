"""What runs inside an agent's process: one line sets up OpenTelemetry, the rest marks and grades its runs.

Endpoint and key come as arguments; where they come from is the client's business (`whileai.instrument`).
"""

from whileai_instrumentation.current import current_trace_id
from whileai_instrumentation.errors import InstrumentationError, UsageError
from whileai_instrumentation.grading import reward, score
from whileai_instrumentation.instrument import flush, instrument, shutdown
from whileai_instrumentation.run_span import run
from whileai_instrumentation.scenario import Scenario, scenario
from whileai_instrumentation.switching import Switched
from whileai_instrumentation.tokens import record_tokens

__all__ = [
    "InstrumentationError",
    "Scenario",
    "Switched",
    "UsageError",
    "current_trace_id",
    "flush",
    "instrument",
    "record_tokens",
    "reward",
    "run",
    "scenario",
    "score",
    "shutdown",
]
