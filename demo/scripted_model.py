"""A stand-in for a model endpoint: speaks OpenAI's chat completions on loopback, and answers by script.

No weights and no key, so the demo runs anywhere and comes out the same every time. The `seed` of a request chooses
among the six tries of its scenario, as sampling would.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from demo.scenarios import SCENARIOS, Scenario

Message = Mapping[str, Any]
CHARACTERS_PER_TOKEN = 4
_ORDER = re.compile(r"\b[A-Z]-\d{4}\b")
_BY_PROMPT = {scenario.prompt: scenario for scenario in SCENARIOS}


@dataclass(frozen=True)
class Call:
    """A tool the model wants called."""

    tool: str
    arguments: Mapping[str, Any]


Turn = Call | str


def _lookup(scenario: Scenario) -> Call:
    return Call("lookup_order", {"order_id": order_id(scenario)})


def _refund(scenario: Scenario, amount: float) -> Call:
    return Call("issue_refund", {"order_id": order_id(scenario), "amount": amount})


def _right(scenario: Scenario) -> Sequence[Turn]:
    if scenario.refund is None:
        return (_lookup(scenario), "I am sorry, this order cannot be refunded.")
    paid = _refund(scenario, scenario.refund)
    return (_lookup(scenario), paid, f"I have refunded ${scenario.refund:.2f} to your card.")


def _generous(scenario: Scenario) -> Sequence[Turn]:
    return (_lookup(scenario), _refund(scenario, _total(scenario)), "I have refunded the whole order, our treat.")


def _hasty(scenario: Scenario) -> Sequence[Turn]:
    return (_refund(scenario, _total(scenario)), "Done, the money is on its way.")


def _idle(scenario: Scenario) -> Sequence[Turn]:
    return (_lookup(scenario), "I have refunded your order.")


def _stingy(scenario: Scenario) -> Sequence[Turn]:
    return (_lookup(scenario), "I am sorry, this order cannot be refunded.")


# What a letter of `Scenario.tries` means: the turns of that run, one a request.
BEHAVIOURS: Mapping[str, Callable[[Scenario], Sequence[Turn]]] = {
    ".": _right,  # looks the order up, pays what is owed
    "g": _generous,  # looks it up, and pays everything all the same
    "h": _hasty,  # pays everything without looking
    "i": _idle,  # says that it paid, and did not
    "s": _stingy,  # refuses what is owed
}


def order_id(scenario: Scenario) -> str:
    """The order that the customer talks of."""
    found = _ORDER.search(scenario.prompt)
    if found is None:
        raise ValueError(f"the prompt of {scenario.scenario_id} names no order")
    return found[0]


def _total(scenario: Scenario) -> float:
    return scenario.order.total if scenario.order else 0.0


def next_turn(messages: Sequence[Message], seed: int) -> Turn:
    """What the model says after these messages; raises `KeyError` for a conversation that it has no script for."""
    prompt = next(_text(message) for message in messages if message["role"] == "user")
    scenario = _BY_PROMPT[prompt]
    turns = BEHAVIOURS[scenario.tries[seed]](scenario)
    return turns[_turns_taken(messages)]


def completion(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one request, in the form of OpenAI's API."""
    messages = request["messages"]
    turn = next_turn(messages, int(request["seed"]))
    number = _turns_taken(messages)
    if isinstance(turn, Call):
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": turn.tool, "arguments": json.dumps(turn.arguments)},
        }
        message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    else:
        message = {"role": "assistant", "content": turn}
    read, written = _tokens(messages) + _tokens(request.get("tools", [])), _tokens(message)
    return {
        "id": f"chatcmpl-{request['seed']}-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if isinstance(turn, Call) else "stop"}
        ],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def _turns_taken(messages: Sequence[Message]) -> int:
    return len([message for message in messages if message["role"] == "assistant"])


def _tokens(value: Any) -> int:
    return len(json.dumps(value)) // CHARACTERS_PER_TOKEN


def _text(message: Message) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            status, answer = 200, completion(request)
        except (KeyError, IndexError) as problem:
            status, answer = 400, {"error": {"message": f"there is no script for this conversation: {problem}"}}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the demo prints its own progress."""


@contextmanager
def serving() -> Iterator[str]:
    """Serve on a free loopback port; the base URL that an OpenAI client takes."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
