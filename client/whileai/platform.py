"""The platform calls under one name, for programs that report to a service rather than compute over rows."""

from typing import TYPE_CHECKING

from whileai._lazy import lazy_names

if TYPE_CHECKING:
    from whileai.agents import agents as agents
    from whileai.agents import register_agent as register_agent
    from whileai.cuts import cut as cut
    from whileai.cuts import cuts as cuts
    from whileai.dashboards import Dashboard as Dashboard
    from whileai.dashboards import TrackedInfo as TrackedInfo
    from whileai.dashboards import Verdict as Verdict
    from whileai.datasets import catalog as catalog
    from whileai.datasets import datasets as datasets
    from whileai.datasets import preview as preview
    from whileai.datasets import publish as publish
    from whileai.datasets import unpublish as unpublish
    from whileai.download import pull as pull
    from whileai.environment import platform_url as platform_url
    from whileai.errors import LoginError as LoginError
    from whileai.errors import PlatformError as PlatformError
    from whileai.hugging_face import hf_publish as hf_publish
    from whileai.hugging_face import import_hf as import_hf
    from whileai.identity import account as account
    from whileai.ingest import list_traces as list_traces
    from whileai.ingest import otel_env as otel_env
    from whileai.ingest import send_traces as send_traces
    from whileai.sign_in import login as login
    from whileai.sign_in import logout as logout
    from whileai.sign_in import signup as signup
    from whileai.tracked import Tracked as Tracked
    from whileai.tracked import track as track
    from whileai.tracked import tracked_agents as tracked_agents
    from whileai.tracked_models import Behavior as Behavior
    from whileai.tracked_models import Frontier as Frontier
    from whileai.tracked_models import Harness as Harness
    from whileai.tracked_models import Judge as Judge
    from whileai.tracked_models import LiveDay as LiveDay
    from whileai.tracked_models import RunRecord as RunRecord
    from whileai.tracked_models import RunSpec as RunSpec
    from whileai.tracked_models import Score as Score
    from whileai.tracked_models import TrainPoint as TrainPoint
    from whileai.tracked_run import Run as Run
    from whileai.upload import push as push
    from whileai.upload import push_file as push_file

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "whileai.agents": ("agents", "register_agent"),
        "whileai.cuts": ("cut", "cuts"),
        "whileai.dashboards": ("Dashboard", "TrackedInfo", "Verdict"),
        "whileai.datasets": ("catalog", "datasets", "preview", "publish", "unpublish"),
        "whileai.download": ("pull",),
        "whileai.environment": ("platform_url",),
        "whileai.errors": ("LoginError", "PlatformError"),
        "whileai.hugging_face": ("hf_publish", "import_hf"),
        "whileai.identity": ("account",),
        "whileai.ingest": ("list_traces", "otel_env", "send_traces"),
        "whileai.sign_in": ("login", "logout", "signup"),
        "whileai.tracked": ("Tracked", "track", "tracked_agents"),
        "whileai.tracked_models": (
            "Behavior",
            "Frontier",
            "Harness",
            "Judge",
            "LiveDay",
            "RunRecord",
            "RunSpec",
            "Score",
            "TrainPoint",
        ),
        "whileai.tracked_run": ("Run",),
        "whileai.upload": ("push", "push_file"),
    },
)
