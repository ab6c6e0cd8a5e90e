"""Datasets to and from the Hugging Face Hub. The service does the work with the account that is connected to it."""

import time
from collections.abc import Callable
from typing import Any

from whileai import service, transport
from whileai.datasets import MODES, PURPOSES, check_choice
from whileai.errors import PlatformError


def hf_status(*, api_key: str | None = None) -> dict[str, Any]:
    """Whether a Hub account is `connected`, its `username`, and the `namespaces` it may push to."""
    return service.api("GET", "/hf/me", api_key=api_key)


def hf_publish(
    dataset_id: str,
    *,
    namespace: str | None = None,
    repo: str | None = None,
    private: bool = False,
    wait: bool = True,
    timeout: float = 600.0,
    poll: float = 2.5,
    api_key: str | None = None,
) -> dict[str, Any]:
    """Push a dataset to a repository of the connected account: one commit, tagged `zp-<dataset id>`.

    The answer is the state of the push: `status`, `repo`, `url`, `split`, `tag`, `commit`. With `wait=False` it is
    still `pushing`.
    """
    body = {"private": private, **service.given(namespace=namespace, repo=repo)}
    path = f"/datasets/{service.segment(dataset_id)}"
    begun = service.api("POST", f"{path}/hf-publish", api_key=api_key, json=body).get("hf")
    if not isinstance(begun, dict):
        raise PlatformError("the service did not say what became of the push; is it the right service?")
    if not wait:
        return begun

    def state() -> dict[str, Any]:
        found: dict[str, Any] = service.api("GET", path, api_key=api_key).get("hf") or {}
        return found

    pushed = _wait(state, lambda hf: hf.get("status") == "pushing", timeout, poll, f"the push of {dataset_id}")
    if pushed.get("status") == "error":
        raise PlatformError(f"{dataset_id} was not pushed: {pushed.get('error') or 'the service gave no reason'}")
    return pushed


def import_hf(
    repo: str,
    *,
    split: str = "train",
    revision: str | None = None,
    config: str | None = None,
    name: str | None = None,
    purpose: str = "train",
    mode: str | None = None,
    agent: str | None = None,
    description: str | None = None,
    max_rows: int = 100000,
    wait: bool = True,
    timeout: float = 900.0,
    poll: float = 3.0,
    api_key: str | None = None,
) -> dict[str, Any]:
    """A split of a Hub dataset as a dataset of this account; the answer's `datasetId` names it.

    With `wait=False` its `status` is still `importing`.
    """
    check_choice("purpose", purpose, PURPOSES)
    check_choice("mode", mode, MODES)
    body = {"repo": repo, "split": split, "purpose": purpose, "max_rows": max_rows}
    said = service.given(revision=revision, config=config, name=name, mode=mode, agent=agent, description=description)
    begun = service.api("POST", "/datasets/import-hf", api_key=api_key, json={**body, **said})
    if not wait:
        return begun
    path = f"/datasets/{service.segment(begun['datasetId'])}"

    def state() -> dict[str, Any]:
        return service.api("GET", path, api_key=api_key)

    row = _wait(state, lambda found: found.get("status") == "importing", timeout, poll, f"the import of {repo}")
    if row.get("status") == "failed":
        reason = (row.get("hfImport") or {}).get("error") or row.get("error") or "the service gave no reason"
        raise PlatformError(f"{repo} was not imported: {reason}")
    return row


def _wait(
    state: Callable[[], dict[str, Any]],
    is_running: Callable[[dict[str, Any]], bool],
    timeout: float,
    poll: float,
    what: str,
) -> dict[str, Any]:
    """Ask until it has ended. The first question comes at once: a small set is through before anybody looks."""
    deadline = time.monotonic() + timeout
    while is_running(found := state()):
        if time.monotonic() + poll > deadline:
            raise PlatformError(f"{what} has not ended after {timeout:g} s; it goes on, see wai.datasets()")
        transport.sleep(poll)
    return found
