"""The Hugging Face Hub behind one small class: who a token belongs to, a repository's files, one commit with its tag.

`huggingface_hub` does the talking. Its errors become one of ours, with a sentence for the person who asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError

KIND = "dataset"
# Somebody else may commit between our look at the repository and our own commit; then we look again.
COMMIT_TRIES = 3
_STALE = 412


class HubError(Exception):
    """The Hub said no, or did not answer; `status` is what it said."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class HubAccount:
    """Whose token it is, and under which names it may write."""

    username: str
    namespaces: tuple[str, ...]
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A repository at one commit."""

    repo: str
    commit: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """The Hub as one account sees it."""

    url: str
    token: str

    def account(self) -> HubAccount:
        with _speaking(self.url):
            told = self._api().whoami()
        organisations = [org["name"] for org in told.get("orgs") or () if isinstance(org.get("name"), str)]
        role = ((told.get("auth") or {}).get("accessToken") or {}).get("role")
        return HubAccount(told["name"], (told["name"], *organisations), (role,) if role else ())

    def create(self, repo: str, *, private: bool) -> None:
        """Make the repository unless it is there; one that is there stays as open as it is."""
        with _speaking(self.url):
            self._api().create_repo(repo, repo_type=KIND, private=private, exist_ok=True)

    def snapshot(self, repo: str, revision: str | None = None) -> Snapshot:
        with _speaking(self.url):
            info = self._api().dataset_info(repo, revision=revision)
        return Snapshot(repo, str(info.sha), tuple(file.rfilename for file in info.siblings or ()))

    def download(self, at: Snapshot, path: str, folder: Path) -> Path:
        """The file, below this folder."""
        with _speaking(self.url):
            return Path(
                self._api().hf_hub_download(
                    at.repo, path, repo_type=KIND, revision=at.commit, local_dir=folder, token=self.token
                )
            )

    def commit(self, at: Snapshot, files: Mapping[str, bytes | Path], title: str) -> str:
        """One commit on top of this one. Raises `HubError` with status 412 when there is a newer one by now."""
        operations = [CommitOperationAdd(path, content) for path, content in files.items()]
        with _speaking(self.url):
            made = self._api().create_commit(
                at.repo, operations, commit_message=title, repo_type=KIND, parent_commit=at.commit
            )
        return str(made.oid)

    def tag(self, repo: str, commit: str, tag: str) -> None:
        """Name a commit; a tag that is there stays where it is."""
        with _speaking(self.url):
            self._api().create_tag(repo, tag=tag, revision=commit, repo_type=KIND, exist_ok=True)

    def _api(self) -> HfApi:
        return HfApi(endpoint=self.url, token=self.token, library_name="whileai")


def text_at(hub: Hub, at: Snapshot, path: str, folder: Path) -> str | None:
    """A small file of the repository; None when it has none of this name."""
    if path not in at.paths:
        return None
    try:
        return hub.download(at, path, folder).read_text("utf-8", "replace")
    except EntryNotFoundError:
        return None


def is_stale(error: HubError) -> bool:
    return error.status == _STALE


@contextmanager
def _speaking(url: str) -> Iterator[None]:
    try:
        yield
    except HfHubHTTPError as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        raise HubError(_sentence(status, error), status) from error
    except HFValidationError as error:
        raise HubError(f"the Hub has no such name: {_first_line(error)}", 400) from error
    except Exception as error:  # the transport of the library is its own affair, and so are its exceptions
        raise HubError(f"the Hub at {url} cannot be reached: {_first_line(error)}") from error


def _sentence(status: int | None, error: HfHubHTTPError) -> str:
    told = {
        401: "the Hub does not accept the token, or shows this repository to nobody without one; connect again",
        403: "the token may not do this on the Hub; connect with one that may write there",
        404: "the Hub has no such dataset, revision or file, or does not show it to this account",
        429: "the Hub is asked too often; try again in some minutes",
    }
    reason = getattr(error, "server_message", None) or _first_line(error)
    return told.get(status or 0, f"the Hub answered {status}: {reason}")


def _first_line(error: Exception) -> str:
    lines: Sequence[str] = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def decoded(text: str | None) -> dict[str, Any]:
    """A JSON object out of a file that anybody may have edited; {} when it is none."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
