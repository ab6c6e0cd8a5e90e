"""A model that answers by script, behind the HTTP of OpenAI (chat completions, responses) and Anthropic, on loopback.

The script is one conversation: look the order up, pay it back, say so. Which turn it is shows in the messages, so
the server keeps no state, and every framework gets the same conversation.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROMPT = "Please refund order A-1001"
ANSWER = "I have refunded 25.50 for order A-1001."
CALLS: Sequence[tuple[str, Mapping[str, object]]] = (
    ("lookup_order", {"order_id": "A-1001"}),
    ("issue_refund", {"order_id": "A-1001", "amount": 25.5}),
)
ORDER = {"order_id": "A-1001", "total": 25.5, "status": "delivered"}
REFUND = {"refunded": 25.5, "order_id": "A-1001"}
INPUT_TOKENS, OUTPUT_TOKENS = 100, 10  # of each call

Json = dict[str, Any]


def _turn(taken: int, tools: Sequence[str]) -> tuple[str, Mapping[str, object]] | str:
    """What the model does next; a model without these tools just answers."""
    if taken < len(CALLS) and CALLS[taken][0] in tools:
        return CALLS[taken]
    if taken >= len(CALLS) and "final_answer" in tools:  # how smolagents' agents end
        return "final_answer", {"answer": ANSWER}
    return ANSWER


def chat_completion(request: Json) -> Json:
    tools = [tool["function"]["name"] for tool in request.get("tools") or []]
    taken = sum(1 for message in request["messages"] if message["role"] == "assistant")
    turn = _turn(taken, tools)
    message: Json = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
    if not isinstance(turn, str):
        call = {"name": turn[0], "arguments": json.dumps(turn[1])}
        message["tool_calls"] = [{"id": f"call_{taken}", "type": "function", "function": call}]
    return {
        "id": f"chatcmpl-{taken}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": [
            {"index": 0, "message": message, "finish_reason": "stop" if isinstance(turn, str) else "tool_calls"}
        ],
        "usage": {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
    }


def chat_chunks(request: Json) -> Iterator[Json]:
    """The same answer as a stream."""
    whole = chat_completion(request)
    message = whole["choices"][0]["message"]
    for at, call in enumerate(message.get("tool_calls") or []):
        call["index"] = at
    head = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    yield {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    yield {
        **head,
        "choices": [{"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}],
        "usage": whole["usage"],
    }


def response(request: Json) -> Json:
    given = request["input"] if isinstance(request["input"], list) else []
    taken = sum(1 for item in given if item.get("type") == "function_call")
    if request.get("previous_response_id"):  # the client leaves the earlier turns to the server
        taken = int(request["previous_response_id"].removeprefix("resp_")) + 1
    turn = _turn(taken, [tool.get("name", "") for tool in request.get("tools") or []])
    if isinstance(turn, str):
        text = {"type": "output_text", "text": turn, "annotations": []}
        item: Json = {
            "type": "message",
            "id": f"msg_{taken}",
            "status": "completed",
            "role": "assistant",
            "content": [text],
        }
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{taken}",
            "call_id": f"call_{taken}",
            "status": "completed",
            "name": turn[0],
            "arguments": json.dumps(turn[1]),
        }
    return {
        "id": f"resp_{taken}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "model": request["model"],
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": request.get("tools") or [],
        "usage": {
            "input_tokens": INPUT_TOKENS,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": OUTPUT_TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
    }


def message(request: Json) -> Json:
    taken = sum(1 for said in request["messages"] if said["role"] == "assistant")
    turn = _turn(taken, [tool["name"] for tool in request.get("tools") or []])
    block: Json = (
        {"type": "text", "text": turn}
        if isinstance(turn, str)
        else {"type": "tool_use", "id": f"toolu_{taken}", "name": turn[0], "input": turn[1]}
    )
    return {
        "id": f"msg_{taken}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [block],
        "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


_ROUTES: Mapping[str, Callable[[Json], Json]] = {
    "/v1/chat/completions": chat_completion,
    "/v1/responses": response,
    "/v1/messages": message,
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.split("?")[0]
        if path == "/v1/chat/completions" and request.get("stream"):
            events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chat_chunks(request)]
            self._answer(200, "text/event-stream", "".join([*events, "data: [DONE]\n\n"]))
        elif path in _ROUTES:
            self._answer(200, "application/json", json.dumps(_ROUTES[path](request)))
        else:
            self._answer(404, "application/json", json.dumps({"error": {"message": f"there is no {path}"}}))

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """Serve on a free port; the origin, to which clients add `/v1`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
