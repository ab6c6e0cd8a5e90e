"""Storing rows on the platform: a dataset is created, its file put to a signed link, and finalized.

Until it is finalized it is not a dataset: a push that breaks off leaves nothing that could be trained on.
"""

import json
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin

from whileai import environment, service, transport
from whileai.datasets import MODES, PURPOSES, check_choice, publish
from whileai.errors import PlatformError
from whileai.progress import bar
from whileai.rows import task_key
from whileai.sizing import holdout_size
from whileai_dialects import is_holdout

CHUNK = 1 << 20  # bytes sent at once
IN_MEMORY = 8 << 20  # bytes of rows kept in memory before they go to a temporary file
BASE_TIMEOUT, TIMEOUT_PER_MB = 120, 4  # seconds for an upload: slow links send 250 kB a second

Rows = Sequence[Mapping[str, Any]]


def push_rows(
    rows: Rows,
    name: str,
    *,
    api_key: str | None = None,
    parent: str | None = None,
    gate: bool = False,
    mode: str | None = None,
    purpose: str | None = None,
    agent: str | None = None,
    description: str | None = None,
    endorsed: Sequence[str] = (),
    strict_hacks: bool = False,
    prove_effect: float = 0.05,
    holdout: float | None = None,
    publish: bool = False,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Store rows as a dataset; the answer's `datasetId` names it.

    `holdout=0.2` stores about that share of the tasks as a second set, `<name>-holdout`, linked to the first and found
    under `holdout`; a task is wholly on one side, the same one every time. A holdout too small to prove a gain of
    `prove_effect` at 80 % power is warned of. `publish=True` makes a public card of `agent`.
    """
    check_choice("purpose", purpose, PURPOSES)
    if publish and not agent:
        raise PlatformError("publish=True needs agent=: a card belongs to an agent")
    train, held = (list(rows), []) if holdout is None else split(rows, holdout)
    if purpose == "holdout" or held:
        warn_if_too_small(held or rows, prove_effect)
    if gate:
        say_that_the_gate_is_missing(endorsed, strict_hacks)
    about = service.given(mode=mode if mode in MODES else None, agent=agent, description=description)
    entry = _push(train, {"name": name, **service.given(purpose=purpose), **about}, parent, api_key, timeout)
    if held:
        described = {"name": f"{name}-holdout", "purpose": "holdout", **about}
        entry["holdout"] = _push(held, described, entry["datasetId"], api_key, timeout)
        entry["holdout_tasks"] = len({task_key(row) for row in held})
    if publish and agent:
        entry["card"] = _publish(entry["datasetId"], agent, description, api_key)
    return entry


push = push_rows  # its name in whileai.platform


def push_file(
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    api_key: str | None = None,
    parent: str | None = None,
    gate: bool = True,
    mode: str | None = None,
) -> dict[str, Any]:
    """Store a file of JSON lines as it is, named after the file unless `name=` says otherwise."""
    file = Path(path)
    if gate:
        say_that_the_gate_is_missing()
    with file.open("rb") as content:
        about = {"name": name or file.stem, **service.given(mode=mode if mode in MODES else None)}
        return _store(content, about, parent, api_key, None)


def split(rows: Rows, holdout: float) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The rows to train on and those held out, by task."""
    if not 0 < holdout < 1:
        raise ValueError(f"holdout={holdout!r} must be a share between 0 and 1, such as 0.2")
    train: list[Mapping[str, Any]] = []
    held: list[Mapping[str, Any]] = []
    for row in rows:
        (held if is_holdout(task_key(row), holdout) else train).append(row)
    if not train:
        raise ValueError(f"holdout={holdout} leaves no row to train on; hold out a smaller share, or push more tasks")
    return train, held


def warn_if_too_small(rows: Rows, effect: float) -> None:
    """Say when a held-out set has too few tasks to prove a gain of `effect`."""
    tasks = len({task_key(row) for row in rows})
    try:
        needed = holdout_size(effect, before=rows)["n_tasks"]
    except ValueError:  # not graded yet
        needed = holdout_size(effect)["n_tasks"]
    if tasks < needed:
        counted = "1 task" if tasks == 1 else f"{tasks} tasks"
        warnings.warn(
            f"the holdout has {counted}; to prove a gain of {effect * 100:g} points at 80 % power takes about "
            f"{needed} (wai.holdout_size)",
            UserWarning,
            stacklevel=3,
        )


def say_that_the_gate_is_missing(endorsed: Sequence[str] = (), strict_hacks: bool = False) -> None:
    """The publish gate comes with the offline checks; a push must not look gated when nothing was checked."""
    asked = " (strict_hacks= and endorsed= included)" if strict_hacks or endorsed else ""
    warnings.warn(
        f"the publish gate is not part of this release{asked}: nothing was checked; gate=False drops this notice",
        UserWarning,
        stacklevel=3,
    )


def _push(
    rows: Rows, about: Mapping[str, Any], parent: str | None, api_key: str | None, timeout: float | None
) -> dict[str, Any]:
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        for line in _lines(rows):
            file.write(line)
        return _store(file, about, parent, api_key, timeout)


def _lines(rows: Rows) -> Iterator[bytes]:
    for number, row in enumerate(rows):
        try:
            yield json.dumps(row, ensure_ascii=False, allow_nan=False, default=str).encode() + b"\n"
        except (ValueError, UnicodeEncodeError) as problem:
            raise ValueError(f"row {number} cannot be written as JSON: {problem}") from problem


def _store(
    file: IO[bytes], about: Mapping[str, Any], parent: str | None, api_key: str | None, timeout: float | None
) -> dict[str, Any]:
    size = file.seek(0, os.SEEK_END)
    created = service.api("POST", "/datasets", api_key=api_key, json={**about, **service.given(parentDatasetId=parent)})
    dataset_id, link = created.get("datasetId"), created.get("uploadUrl")
    if not isinstance(dataset_id, str) or not isinstance(link, str):
        raise PlatformError("the service created a dataset without datasetId and uploadUrl; is it the right service?")
    transport.exchange(
        "PUT",
        urljoin(f"{environment.api_url()}/", link),
        content=lambda: _pieces(file, size, str(about["name"])),
        headers={"Content-Type": "application/jsonl", "Content-Length": str(size)},
        timeout=timeout if timeout is not None else BASE_TIMEOUT + TIMEOUT_PER_MB * size / 1e6,
    )
    path = f"/datasets/{service.segment(dataset_id)}/finalize"
    entry = service.api("POST", path, api_key=api_key, idempotent=True)
    return {"datasetId": dataset_id, **entry}


def _pieces(file: IO[bytes], size: int, label: str) -> Iterator[bytes]:
    file.seek(0)
    with bar(label, size) as advance:
        while piece := file.read(CHUNK):
            yield piece
            advance(len(piece))


def _publish(dataset_id: str, agent: str, description: str | None, api_key: str | None) -> dict[str, Any]:
    return publish(dataset_id, agent, description, api_key=api_key)
