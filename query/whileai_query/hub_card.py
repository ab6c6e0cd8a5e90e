"""What a pushed repository says about itself: its card (README.md) and `whileai.json`. Pure.

The card's metadata names the file of each split, so that `load_dataset(repo, split=…)` finds it. `whileai.json` maps
each split to the dataset it holds now, and to those it held before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from huggingface_hub import DatasetCard, DatasetCardData

HISTORY_FILE = "whileai.json"
CARD_FILE = "README.md"
_VERSION = 1


def rows_path(split: str) -> str:
    """Where the rows of a split lie in the repository."""
    return f"data/{split}.jsonl"


def tag_of(dataset_id: str) -> str:
    """The tag that pins one push."""
    return f"zp-{dataset_id}"


def history_with(before: Mapping[str, Any], split: str, push: Mapping[str, Any]) -> dict[str, Any]:
    """`whileai.json` after this push: the newest push of each split first, once."""
    splits = {name: dict(entry) for name, entry in _splits(before).items()}
    old = splits.get(split, {})
    kept = [entry for entry in old.get("history") or () if _id(entry) != push["datasetId"]]
    splits[split] = {**push, "history": [dict(push), *kept]}
    return {**before, "version": _VERSION, "splits": splits}


def history_text(history: Mapping[str, Any]) -> bytes:
    return (json.dumps(history, indent=2, ensure_ascii=False) + "\n").encode()


def card_with(before: str | None, history: Mapping[str, Any], title: str, description: str | None) -> bytes:
    """The card after this push. A card that is there keeps its words; only the list of files is brought up to date."""
    if before is None:
        words = f"# {title}\n\n{(description or '').strip()}\n\nRows pushed by While; `{HISTORY_FILE}` says which.\n"
        before = f"---\n{{}}\n---\n\n{words}"
    card = DatasetCard(before, ignore_metadata_errors=True)
    about: dict[str, Any] = card.data.to_dict()  # type: ignore[no-untyped-call]  # the library leaves this one untyped
    files = [{"split": split, "path": rows_path(split)} for split in sorted(_splits(history))]
    others = [entry for entry in about.get("configs") or () if entry.get("config_name") != "default"]
    about["configs"] = [{"config_name": "default", "data_files": files}, *others]
    card.data = DatasetCardData(**about, ignore_metadata_errors=True)
    return str(card).encode()


def _splits(history: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found = history.get("splits")
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)} if isinstance(found, dict) else {}


def _id(entry: Any) -> Any:
    return entry.get("datasetId") if isinstance(entry, dict) else None
