"""A small Hugging Face Hub on the loopback: accounts, dataset repositories, commits, tags, large files.

It answers the HTTP calls of `huggingface_hub` from memory. Repositories keep every commit, so a tag keeps its tree.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_stub_token_of_ana"
USER = "ana"
ORGANISATION = "acme"
# Files of this size go the way of large files.
LARGE_BYTES = 64 << 10

Answer = tuple[int, Any, dict[str, str]]


@dataclass
class Repository:
    """Commits in order, each a whole tree; tags and branches name one."""

    private: bool
    commits: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)

    def add(self, files: Mapping[str, bytes], title: str = "initial commit") -> str:
        tree = {**(self.commits[-1][1] if self.commits else {}), **files}
        sha = hashlib.sha1(f"{len(self.commits)} {title}".encode()).hexdigest()
        self.commits.append((sha, tree))
        self.titles.append(title)
        return sha

    def at(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        if revision == "main":
            return self.commits[-1]
        sha = self.tags.get(revision, revision)
        return next((commit for commit in self.commits if commit[0] == sha), None)


class Hub:
    """`with Hub() as hub:`; `broken` makes every commit fail, and nothing is given out while `open` is cleared."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.large: dict[str, bytes] = {}
        self.broken = False
        self.open = threading.Event()
        self.open.set()
        self.seen: list[str] = []
        hub = self

        class Handler(_Handler):
            owner = hub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def publish(self, name: str, files: Mapping[str, bytes], *, private: bool = False) -> Repository:
        """A repository that somebody else made."""
        made = Repository(private)
        made.add(files)
        self.repositories[name] = made
        return made

    def __enter__(self) -> Hub:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: bytes, signed_in: bool) -> Answer:
        """One exchange, by the first parts of the path."""
        self.seen.append(f"{method} {path}")
        match path.strip("/").split("/"):
            case ["api", "whoami-v2"]:
                return self._whoami() if signed_in else _refusal(401, "Invalid username or password.")
            case ["api", "validate-yaml"]:
                return 200, {"errors": [], "warnings": []}, {}
            case ["api", "repos", "create"]:
                return self._create(json.loads(body)) if signed_in else _refusal(401, "sign in")
            case ["api", "datasets", owner, name, *rest]:
                return self._repository(f"{owner}/{name}", rest, method, body, signed_in)
            case ["datasets", owner, name, "resolve", revision, *file]:
                return self._file(f"{owner}/{name}", unquote(revision), unquote("/".join(file)), signed_in)
            case ["datasets", _, _, "info", "lfs", "objects", "batch"]:
                return self._large_files(json.loads(body))
            case ["large", oid]:
                self.large[oid] = body
                return 200, {}, {}
        return _refusal(404, "not found")

    def _whoami(self) -> Answer:
        organisation = {"type": "org", "name": ORGANISATION, "roleInOrg": "admin"}
        token = {"type": "access_token", "accessToken": {"displayName": "tests", "role": "write"}}
        return 200, {"type": "user", "name": USER, "orgs": [organisation], "auth": token}, {}

    def _create(self, asked: Mapping[str, Any]) -> Answer:
        name = f"{asked.get('organization') or USER}/{asked['name']}"
        url = {"url": f"{self.url}/datasets/{name}", "name": name}
        if name in self.repositories:
            return 409, {**url, "error": "You already created this dataset repo"}, {}
        if asked.get("organization") not in (None, USER, ORGANISATION):
            return _refusal(403, f"no right to create under {asked['organization']}")
        private = asked.get("visibility") == "private" or asked.get("private") is True
        self.publish(name, {".gitattributes": b""}, private=private)
        return 200, url, {}

    def _repository(self, name: str, rest: list[str], method: str, body: bytes, signed_in: bool) -> Answer:
        found = self.repositories.get(name)
        if found is None or (found.private and not signed_in):
            return _refusal(404, "Repository not found", {"x-error-code": "RepoNotFound"})
        match [method, *rest]:
            case ["GET"] | ["GET", "revision", _]:
                at = found.at(unquote(rest[1]) if rest else "main")
                if at is None:
                    return _refusal(404, "Invalid rev id", {"x-error-code": "RevisionNotFound"})
                files = [{"rfilename": path} for path in sorted(at[1])]
                return 200, {"id": name, "sha": at[0], "private": found.private, "siblings": files, "tags": []}, {}
            case ["POST", "preupload", _]:
                modes = [
                    {"path": file["path"], "uploadMode": "lfs" if file["size"] >= LARGE_BYTES else "regular"}
                    for file in json.loads(body)["files"]
                ]
                return 200, {"files": [{**mode, "shouldIgnore": False} for mode in modes]}, {}
            case ["POST", "commit", _]:
                return self._commit(name, found, body)
            case ["POST", "tag", revision]:
                tag = json.loads(body)["tag"]
                if tag in found.tags:
                    return _refusal(409, "Tag reference exists already")
                found.tags[tag] = unquote(revision)
                return 200, {}, {}
        return _refusal(404, "not found")

    def _commit(self, name: str, found: Repository, body: bytes) -> Answer:
        if self.broken:
            return _refusal(403, "commits are switched off")
        lines = [json.loads(line) for line in body.splitlines()]
        parent = lines[0]["value"].get("parentCommit")
        if parent and parent != found.commits[-1][0]:
            return _refusal(412, "A commit has happened since")
        files = {}
        for line in lines[1:]:
            value = line["value"]
            large = line["key"] == "lfsFile"
            files[value["path"]] = self.large[value["oid"]] if large else base64.b64decode(value["content"])
        sha = found.add(files, lines[0]["value"]["summary"])
        return 200, {"commitUrl": f"{self.url}/datasets/{name}/commit/{sha}", "commitOid": sha, "success": True}, {}

    def _large_files(self, asked: Mapping[str, Any]) -> Answer:
        objects = [
            {**item, "actions": {"upload": {"href": f"{self.url}/large/{item['oid']}"}}} for item in asked["objects"]
        ]
        return 200, {"transfer": "basic", "objects": objects}, {}

    def _file(self, name: str, revision: str, path: str, signed_in: bool) -> Answer:
        found = self.repositories.get(name)
        at = found.at(revision) if found is not None and (signed_in or not found.private) else None
        if at is None or path not in at[1]:
            return _refusal(404, "Entry not found", {"x-error-code": "EntryNotFound"})
        self.open.wait()
        etag = hashlib.sha256(at[1][path]).hexdigest()
        return 200, at[1][path], {"x-repo-commit": at[0], "etag": f'"{etag}"'}


class _Handler(BaseHTTPRequestHandler):
    owner: Hub
    protocol_version = "HTTP/1.1"

    def _exchange(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        signed_in = self.headers.get("authorization", "") == f"Bearer {TOKEN}"
        status, told, headers = self.owner.answer(self.command, urlsplit(self.path).path, body, signed_in)
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        try:
            self._send(status, content, headers)
        except OSError:  # who asked is gone
            self.close_connection = True

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status, HTTPStatus(status).phrase)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _exchange

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _refusal(status: int, message: str, headers: dict[str, str] | None = None) -> Answer:
    return status, {"error": message}, {"x-error-message": message, **(headers or {})}
