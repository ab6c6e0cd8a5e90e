"""Fetching a dataset's rows: straight to a file, or parsed. A file appears whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, overload
from urllib.parse import urljoin

from whileai import environment, service, transport
from whileai.credentials import Credential, resolve
from whileai.errors import PlatformError
from whileai.progress import Advance, bar

CHUNK = 1 << 20  # bytes read at once


@overload
def pull(dataset_id: str, path: None = None, *, api_key: str | None = None) -> list[dict[str, Any]]: ...
@overload
def pull(dataset_id: str, path: str | os.PathLike[str], *, api_key: str | None = None) -> str: ...


def pull(
    dataset_id: str, path: str | os.PathLike[str] | None = None, *, api_key: str | None = None
) -> str | list[dict[str, Any]]:
    """The rows of a dataset of this account, or of the public catalog (no key needed there).

    With `path=` they are streamed to that file as JSON lines, and the path comes back.
    """
    urls = parts(dataset_id, api_key)
    if path is None:
        with tempfile.TemporaryFile() as file:
            _fetch(urls, file, dataset_id)
            file.seek(0)
            return list(_rows(file, dataset_id))
    target = Path(path)
    with ExitStack() as undo:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        undo.callback(Path(name).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            _fetch(urls, file, dataset_id)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
        undo.pop_all()
    return str(path)


def parts(dataset_id: str, api_key: str | None = None) -> list[str]:
    """The links under which the pieces of a dataset lie, in order. A link carries its own permission."""
    base = environment.api_url()
    credential = resolve("data", api_key, base)
    grant = _own(base, dataset_id, credential) if credential else None
    if grant is None:
        grant = _public(base, dataset_id, credential)
    links = [part for part in grant.get("parts") or () if isinstance(part, str)]
    if not links and isinstance(grant.get("downloadUrl"), str):
        links = [grant["downloadUrl"]]
    if not links:
        raise PlatformError(f"the service gave no link for dataset {dataset_id}; is it finished? see wai.datasets()")
    return [urljoin(f"{base}/", link) for link in links]


def _own(base: str, dataset_id: str, credential: Credential) -> dict[str, Any] | None:
    try:
        return transport.call("GET", f"{base}/datasets/{service.segment(dataset_id)}/download", credential=credential)
    except PlatformError as problem:
        if problem.status != 404:
            raise
        return None


def _public(base: str, dataset_id: str, credential: Credential | None) -> dict[str, Any]:
    try:
        return transport.call("GET", f"{base}/catalog/{service.segment(dataset_id)}/download")
    except PlatformError as problem:
        if problem.status != 404:
            raise
        way_out = (
            f"the key from {credential.source} owns none of that id; see wai.datasets()"
            if credential
            else "there is no key; set WHILEAI_API_KEY to pull a private one"
        )
        raise PlatformError(f"no dataset {dataset_id} in the public catalog, and {way_out}", status=404) from problem


def _fetch(urls: list[str], file: IO[bytes], dataset_id: str) -> None:
    for number, url in enumerate(urls, 1):
        label = dataset_id if len(urls) == 1 else f"{dataset_id} {number}/{len(urls)}"
        _fetch_part(url, file, label)


def _fetch_part(url: str, file: IO[bytes], label: str) -> None:
    """Append one part; when the connection breaks half-way, take back what came and ask again."""
    start = file.tell()
    for attempt in range(1, transport.ATTEMPTS + 1):
        try:
            with transport.stream(url) as response:
                length = response.headers.get("content-length")
                with bar(label, int(length) if length else None) as advance:
                    _append(response.iter_bytes(CHUNK), file, advance)
            return
        except transport.BROKEN as problem:
            if attempt == transport.ATTEMPTS:
                raise PlatformError(transport.unreachable("GET", url, problem)) from problem
            file.seek(start)
            file.truncate()
            transport.sleep(transport.pause(attempt, None))


def _append(chunks: Iterator[bytes], file: IO[bytes], advance: Advance) -> None:
    """Write a part so that its lines stay apart from those of its neighbours, whatever it begins or ends with."""
    begun, last = False, b"\n"
    for chunk in chunks:
        advance(len(chunk))
        if not begun:
            chunk = chunk.lstrip()
            begun = bool(chunk)
        if chunk:
            file.write(chunk)
            last = chunk[-1:]
    if last != b"\n":
        file.write(b"\n")


def _rows(lines: IO[bytes], dataset_id: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as problem:
            raise PlatformError(f"line {number} of {dataset_id} is not JSON: {problem}") from problem
        yield row


def _umask() -> int:
    """The process's umask; mkstemp makes files for the owner alone, which is not what a pulled file should be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
