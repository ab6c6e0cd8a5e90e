"""The account's datasets by id: list, look at, describe, publish, delete. Rows go through `upload` and `download`."""

from typing import Any

from whileai import environment, service, transport
from whileai.errors import PlatformError

PURPOSES = ("train", "holdout", "eval")
MODES = ("explore", "sft", "rl", "adaptive")


def datasets(*, api_key: str | None = None) -> dict[str, Any]:
    """Every dataset of the account under `datasets`, newest first, and the storage they take."""
    return service.api("GET", "/datasets", api_key=api_key)


def preview(dataset_id: str, *, api_key: str | None = None) -> dict[str, Any]:
    """Three sample rows and the service's report on the set."""
    return service.api("GET", f"{_path(dataset_id)}/preview", api_key=api_key)


def profile(dataset_id: str, *, force: bool = False, api_key: str | None = None) -> dict[str, Any]:
    """Pass rate, mixed tasks, tool use, also per task. `force=True` computes it afresh."""
    params = {"force": "1"} if force else None
    answer = service.api("GET", f"{_path(dataset_id)}/profile", api_key=api_key, params=params)
    found: dict[str, Any] = answer.get("profile") or {}
    return found


def update_dataset(
    dataset_id: str,
    *,
    purpose: str | None = None,
    mode: str | None = None,
    agent: str | None = None,
    description: str | None = None,
    api_key: str | None = None,
) -> dict[str, Any]:
    """Change what is said about a dataset; its rows stay."""
    fields = service.given(purpose=purpose, mode=mode, agent=agent, description=description)
    if not fields:
        raise PlatformError("nothing to change: give purpose=, mode=, agent= or description=")
    check_choice("purpose", purpose, PURPOSES)
    check_choice("mode", mode, MODES)
    return service.api("POST", f"{_path(dataset_id)}/meta", api_key=api_key, json=fields, idempotent=True)


def delete_dataset(dataset_id: str, *, api_key: str | None = None) -> dict[str, Any]:
    """Delete a dataset for good. What is already gone is no error."""
    return service.api("DELETE", _path(dataset_id), api_key=api_key)


def delete_empty_datasets(*, max_rows: int = 0, dry_run: bool = False, api_key: str | None = None) -> dict[str, Any]:
    """Delete the sets that hold nothing, or at most `max_rows` rows. `dry_run=True` only names them."""
    victims = [row["datasetId"] for row in datasets(api_key=api_key).get("datasets") or [] if _is_empty(row, max_rows)]
    if not dry_run:
        for dataset_id in victims:
            delete_dataset(dataset_id, api_key=api_key)
    return {"datasets": victims, "deleted": not dry_run}


def publish(
    dataset_id: str, agent: str, description: str | None = None, *, api_key: str | None = None
) -> dict[str, Any]:
    """Make a dataset public as a card of `agent`. It must be finished and hold rows."""
    body = {"agent": agent, **service.given(description=description)}
    return service.api("POST", f"{_path(dataset_id)}/publish", api_key=api_key, json=body, idempotent=True)


def unpublish(dataset_id: str, *, api_key: str | None = None) -> dict[str, Any]:
    """Take a dataset out of the public catalog."""
    return service.api("POST", f"{_path(dataset_id)}/unpublish", api_key=api_key, idempotent=True)


def catalog() -> dict[str, Any]:
    """Every public card, by agent. Needs no key and sends none."""
    return transport.call("GET", f"{environment.api_url()}/catalog")


def check_choice(what: str, value: str | None, allowed: tuple[str, ...]) -> None:
    """Refuse a value that the service would refuse, naming the ones it takes."""
    if value is not None and value not in allowed:
        raise PlatformError(f"{what}={value!r} is not one of {', '.join(allowed)}")


def _path(dataset_id: str) -> str:
    return f"/datasets/{service.segment(dataset_id)}"


def _is_empty(row: dict[str, Any], max_rows: int) -> bool:
    return not row.get("sizeBytes") or (max_rows > 0 and (row.get("rows") or 0) <= max_rows)
