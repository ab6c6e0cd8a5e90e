"""A small HTTP server that records what the client sends and answers as the test says."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    cut_at: int | None = None  # close the connection after so many bytes of the body

    @property
    def bytes(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Service:
    """Answers of a route are used up in order; the last one stays."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._answers: dict[tuple[str, str], list[Answer]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answers(self, method: str, path: str, *answers: Answer | dict[str, Any]) -> None:
        self._answers[method, path] = [a if isinstance(a, Answer) else Answer(body=a) for a in answers]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def last(self) -> Request:
        return self.requests[-1]

    def _take(self, method: str, path: str) -> Answer:
        waiting = self._answers.get((method, path))
        if not waiting:
            return Answer(404, {"error": f"nothing at {path}"})
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    def _handler(service) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                service.requests.append(Request(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body))
                answer = service._take(self.command, parts.path)
                self.send_response(answer.status)
                for name, value in {"content-type": answer.content_type, **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer.bytes)))
                if answer.cut_at is not None:
                    self.close_connection = True
                self.end_headers()
                self.wfile.write(answer.bytes[: answer.cut_at])

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
