"""While's client: send traces, grade runs, cut training data. `import whileai.simulations as wai` has the rest.

Names are imported when first used, so that an agent process which only sends traces loads nothing else.
"""

from typing import TYPE_CHECKING

from whileai._lazy import lazy_names
from whileai._other_client import warn_of_the_other_client

if TYPE_CHECKING:
    from whileai.agent_process import instrument as instrument
    from whileai.configuration import Settings as Settings
    from whileai.configuration import configure as configure
    from whileai.configuration import context as context
    from whileai.credentials import resolve_api_key as resolve_api_key
    from whileai.errors import LoginError as LoginError
    from whileai.errors import PlatformError as PlatformError
    from whileai.errors import WhileIngestError as WhileIngestError
    from whileai.identity import account as account
    from whileai.identity import status as status
    from whileai.ingest import ingest_traces as ingest_traces
    from whileai.ingest import list_traces as list_traces
    from whileai.ingest import otel_env as otel_env
    from whileai.ingest import send_runs as send_runs
    from whileai.ingest import send_traces as send_traces
    from whileai.scored_data import ScoredData as ScoredData
    from whileai.sign_in import login as login
    from whileai.sign_in import logout as logout
    from whileai.sign_in import signup as signup
    from whileai.simulation_data import SimulationData as SimulationData
    from whileai_instrumentation import current_trace_id as current_trace_id
    from whileai_instrumentation import flush as flush
    from whileai_instrumentation import record_tokens as record_tokens
    from whileai_instrumentation import reward as reward
    from whileai_instrumentation import run as run
    from whileai_instrumentation import scenario as scenario
    from whileai_instrumentation import score as score

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "whileai.agent_process": ("instrument",),
        "whileai.configuration": ("Settings", "configure", "context"),
        "whileai.credentials": ("resolve_api_key",),
        "whileai.errors": ("LoginError", "PlatformError", "WhileIngestError"),
        "whileai.identity": ("account", "status"),
        "whileai.ingest": ("ingest_traces", "list_traces", "otel_env", "send_runs", "send_traces"),
        "whileai.scored_data": ("ScoredData",),
        "whileai.sign_in": ("login", "logout", "signup"),
        "whileai.simulation_data": ("SimulationData",),
        "whileai_instrumentation": (
            "current_trace_id",
            "flush",
            "record_tokens",
            "reward",
            "run",
            "scenario",
            "score",
        ),
    },
)

warn_of_the_other_client()
