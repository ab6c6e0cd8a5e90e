"""Pushing a dataset to a repository of the Hub: one commit with its rows, card and history, and a tag that pins it."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from whileai_query.dataset_files import whole_file
from whileai_query.errors import Conflict
from whileai_query.hub import COMMIT_TRIES, Hub, HubError, decoded, is_stale, text_at
from whileai_query.hub_card import (
    CARD_FILE,
    HISTORY_FILE,
    card_with,
    history_text,
    history_with,
    rows_path,
    tag_of,
)
from whileai_query.services import Services
from whileai_query.times import iso
from whileai_registry import Dataset, RegistryError

log = structlog.get_logger("hub")

LONGEST_NAME = 96  # of a repository, as the Hub has it


@dataclass(frozen=True, slots=True)
class Target:
    """Where a push goes."""

    repo: str
    private: bool


def repo_of(username: str, namespace: str | None, repo: str | None, dataset: Dataset) -> str:
    """`namespace/name`: as asked for, else the user's own and a name made of the dataset's."""
    name = repo or re.sub(r"[^\w.-]+", "-", dataset.name, flags=re.ASCII).strip("-.")[:LONGEST_NAME] or dataset.id
    return name if "/" in name else f"{namespace or username}/{name}"


def begin(services: Services, account: str, dataset: Dataset, hub: Hub, target: Target) -> dict[str, Any]:
    """Start the push and give its state. Raises `Conflict` for a set that has no rows, or is being pushed."""
    if dataset.status != "ready" or not dataset.rows:
        raise Conflict(f"dataset {dataset.id} is {dataset.status} with {dataset.rows} rows; push a finished set")
    hf = {
        "repo": target.repo,
        "url": f"{hub.url}/datasets/{target.repo}",
        "private": target.private,
        "split": dataset.purpose,
        "tag": tag_of(dataset.id),
        "error": None,
        "startedAt": iso(services.now()),
    }
    begun = services.registry.datasets.begin_push(account, dataset.id, hf)
    services.jobs.start(f"push {dataset.id}", lambda: _run(services, account, begun, hub, target))
    return begun.hf or {}


def _run(services: Services, account: str, dataset: Dataset, hub: Hub, target: Target) -> None:
    try:
        commit = _push(services, dataset, hub, target)
        outcome: dict[str, Any] = {"status": "done", "commit": commit}
    except HubError as error:
        outcome = {"status": "error", "error": str(error)}
    except Exception:
        log.exception("a push failed", dataset=dataset.id)
        outcome = {"status": "error", "error": "the service failed on this push; its log says why"}
    try:
        said = {**(dataset.hf or {}), **outcome, "finishedAt": iso(services.now())}
        services.registry.datasets.annotate(account, dataset.id, hf=said)
    except RegistryError as error:  # deleted meanwhile, or the records are away: the next start says so
        log.warning("the outcome of a push could not be kept", dataset=dataset.id, error=str(error))


def _push(services: Services, dataset: Dataset, hub: Hub, target: Target) -> str:
    hub.create(target.repo, private=target.private)
    with whole_file(services.objects, dataset.files) as rows:
        for tried in range(1, COMMIT_TRIES + 1):
            try:
                commit = _commit(services, dataset, hub, target.repo, rows)
                break
            except HubError as error:
                if not is_stale(error) or tried == COMMIT_TRIES:
                    raise
    hub.tag(target.repo, commit, tag_of(dataset.id))
    return commit


def _commit(services: Services, dataset: Dataset, hub: Hub, repo: str, rows: Path) -> str:
    split = dataset.purpose
    at = hub.snapshot(repo)
    with tempfile.TemporaryDirectory() as folder:
        history = decoded(text_at(hub, at, HISTORY_FILE, Path(folder)))
        card = text_at(hub, at, CARD_FILE, Path(folder))
    push = {
        "datasetId": dataset.id,
        "name": dataset.name,
        "agent": dataset.agent,
        "mode": dataset.mode,
        "rows": dataset.rows,
        "sizeBytes": dataset.size_bytes,
        "tag": tag_of(dataset.id),
        "pushedAt": iso(services.now()),
    }
    history = history_with(history, split, push)
    files: dict[str, bytes | Path] = {
        rows_path(split): rows,
        HISTORY_FILE: history_text(history),
        CARD_FILE: card_with(card, history, dataset.name, dataset.description),
    }
    return hub.commit(at, files, f"Push {dataset.name} ({dataset.id}) as {split}")
