"""The calls of the documentation's `wai`: grade, cut, pull, and what is computed offline over rows."""

from typing import TYPE_CHECKING

from whileai._lazy import lazy_names

if TYPE_CHECKING:
    from whileai.agents import agents as agents
    from whileai.agents import register_agent as register_agent
    from whileai.configuration import configure as configure
    from whileai.configuration import context as context
    from whileai.cut_words import format_cuts as format_cuts
    from whileai.cuts import cut as cut
    from whileai.cuts import cuts as cuts
    from whileai.datasets import catalog as catalog
    from whileai.datasets import datasets as datasets
    from whileai.datasets import delete_dataset as delete_dataset
    from whileai.datasets import delete_empty_datasets as delete_empty_datasets
    from whileai.datasets import preview as preview
    from whileai.datasets import profile as profile
    from whileai.datasets import publish as publish
    from whileai.datasets import unpublish as unpublish
    from whileai.datasets import update_dataset as update_dataset
    from whileai.delegated import issue_delegated_credential as issue_delegated_credential
    from whileai.delegated import refresh_delegated_credential as refresh_delegated_credential
    from whileai.delegated import revoke_delegated_credential as revoke_delegated_credential
    from whileai.download import pull as pull
    from whileai.errors import PlatformError as PlatformError
    from whileai.exporting import export_dataset as export_dataset
    from whileai.exporting import export_training as export_training
    from whileai.exporting import tool_call_roundtrip as tool_call_roundtrip
    from whileai.hugging_face import hf_publish as hf_publish
    from whileai.hugging_face import hf_status as hf_status
    from whileai.hugging_face import import_hf as import_hf
    from whileai.leaks import LeakReport as LeakReport
    from whileai.leaks import leak_report as leak_report
    from whileai.near_copies import near_duplicate_prompts as near_duplicate_prompts
    from whileai.otel_rows import rows_from_otel as rows_from_otel
    from whileai.purge import purge_agent as purge_agent
    from whileai.rows import task_key as task_key
    from whileai.scored_data import ScoredData as ScoredData
    from whileai.scores import send_score as send_score
    from whileai.simulation_data import SimulationData as SimulationData
    from whileai.sizing import detectable_effect as detectable_effect
    from whileai.sizing import holdout_size as holdout_size
    from whileai.trace_rows import traces as traces
    from whileai.training_rows import loss_mask as loss_mask
    from whileai.training_rows import to_trl as to_trl
    from whileai.training_rows import training_rows as training_rows
    from whileai.upload import push_file as push_file
    from whileai.upload import push_rows as push_rows

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "whileai.agents": ("agents", "register_agent"),
        "whileai.configuration": ("configure", "context"),
        "whileai.cut_words": ("format_cuts",),
        "whileai.cuts": ("cut", "cuts"),
        "whileai.datasets": (
            "catalog",
            "datasets",
            "delete_dataset",
            "delete_empty_datasets",
            "preview",
            "profile",
            "publish",
            "unpublish",
            "update_dataset",
        ),
        "whileai.delegated": (
            "issue_delegated_credential",
            "refresh_delegated_credential",
            "revoke_delegated_credential",
        ),
        "whileai.download": ("pull",),
        "whileai.errors": ("PlatformError",),
        "whileai.exporting": ("export_dataset", "export_training", "tool_call_roundtrip"),
        "whileai.hugging_face": ("hf_publish", "hf_status", "import_hf"),
        "whileai.leaks": ("LeakReport", "leak_report"),
        "whileai.near_copies": ("near_duplicate_prompts",),
        "whileai.otel_rows": ("rows_from_otel",),
        "whileai.purge": ("purge_agent",),
        "whileai.rows": ("task_key",),
        "whileai.scored_data": ("ScoredData",),
        "whileai.scores": ("send_score",),
        "whileai.simulation_data": ("SimulationData",),
        "whileai.sizing": ("detectable_effect", "holdout_size"),
        "whileai.trace_rows": ("traces",),
        "whileai.training_rows": ("loss_mask", "to_trl", "training_rows"),
        "whileai.upload": ("push_file", "push_rows"),
    },
)
