"""What `redact=` takes out, wherever it stands, and that what fails takes out more and not less."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.trace import Link, StatusCode
from support.agents import Outboxes, tracer_of
from support.otlp_receiver import Receiver, plain, values

from whileai_instrumentation import UsageError
from whileai_instrumentation.encoding import Encoder
from whileai_instrumentation.processors import OutboxLogProcessor
from whileai_instrumentation.redaction import FAILED, REDACTED, redact_text, redactor

MAIL = r"[\w.é]+@[\w.]+"


def redacted(wish: Any, text: str) -> str:
    """What leaves of a text."""
    redact = redactor(wish)
    assert redact is not None
    return redact_text("key", text, redact)


def test_a_pattern_goes_from_every_place_of_a_span(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes(Encoder(redact=redactor(MAIL)))
    tracer = tracer_of(outbox)
    other = tracer.start_span("linked")
    span = tracer.start_span(
        "ask ann@example.com",
        attributes={"text": "from ann@example.com", "list": ["ann@example.com", "b"], "number": 7},
        links=[Link(other.get_span_context(), {"who": "ann@example.com"})],
    )
    span.add_event("mail to ann@example.com", {"to": "ann@example.com"})
    span.set_status(StatusCode.ERROR, "no answer from ann@example.com")
    span.end()
    assert outbox.flush(30)
    (sent,) = receiver.spans()
    assert sent.name == f"ask {REDACTED}"
    assert values(sent.attributes) == {"text": f"from {REDACTED}", "list": [REDACTED, "b"], "number": 7}
    assert values(sent.links[0].attributes) == {"who": REDACTED}
    assert (sent.events[0].name, values(sent.events[0].attributes)) == (f"mail to {REDACTED}", {"to": REDACTED})
    assert sent.status.message == f"no answer from {REDACTED}"
    assert b"ann@example.com" not in receiver.traces[0].SerializeToString()


def test_a_pattern_goes_from_log_bodies_and_their_attributes(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes(Encoder(redact=redactor([MAIL])))
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(OutboxLogProcessor(outbox))
    body: Any = {"content": "I am ann@example.com", "ann@example.com": [{"deep": b"ann@example.com"}]}
    provider.get_logger("tests").emit(
        _logs.LogRecord(body=body, attributes={"gen_ai.input.messages": [{"content": "ann@example.com"}]})
    )
    assert outbox.flush(30)
    (record,) = receiver.records()
    assert plain(record.body) == {"content": f"I am {REDACTED}", REDACTED: [{"deep": REDACTED.encode()}]}
    assert values(record.attributes) == {"gen_ai.input.messages": [{"content": REDACTED}]}


def test_an_escape_in_json_hides_nothing() -> None:
    text = json.dumps([{"content": 'josé@example.com said "hi"'}])
    assert "\\u00e9" in text
    assert json.loads(redacted(MAIL, text)) == [{"content": f'{REDACTED} said "hi"'}]


def test_json_inside_json_is_opened_too() -> None:
    arguments = json.dumps({"to": "josé@example.com"})
    text = json.dumps([{"tool_call": {"arguments": arguments}}])
    (opened,) = json.loads(redacted(MAIL, text))
    assert json.loads(opened["tool_call"]["arguments"]) == {"to": REDACTED}


def test_a_number_that_matches_goes_and_what_stays_is_still_json() -> None:
    text = json.dumps({"card": 4111111111111111, "amount": 25.5, "ok": True, "none": None})
    assert json.loads(redacted(r"\b\d{16}\b", text)) == {"card": REDACTED, "amount": 25.5, "ok": True, "none": None}


def test_a_key_in_json_is_a_text_too() -> None:
    assert json.loads(redacted(MAIL, '{"ann@example.com": 1}')) == {REDACTED: 1}


def test_text_without_a_match_stays_byte_for_byte() -> None:
    text = '{"a":  1.50, "b": "\\u00e9"}'
    assert redacted(MAIL, text) == text


def test_text_that_only_looks_like_json_is_redacted_as_text() -> None:
    assert redacted(MAIL, "[ann@example.com] wrote") == f"[{REDACTED}] wrote"


@pytest.mark.parametrize(
    "wish",
    [
        lambda text: text.replace("secret", "…"),
        lambda key, text: text.replace("secret", "…") if key == "key" else text,
        [re.compile("SECRET", re.IGNORECASE)],
    ],
    ids=["text", "key and text", "compiled"],
)
def test_a_function_or_a_compiled_pattern_will_do(wish: Any) -> None:
    assert redacted(wish, "a secret") in ("a …", f"a {REDACTED}")


def test_a_function_that_gives_nothing_takes_the_text_out() -> None:
    assert redacted(lambda _text: None, "a secret") == REDACTED


def test_a_function_that_fails_takes_its_text_out() -> None:
    def broken(text: str) -> str:
        raise RuntimeError(text)

    assert redacted(broken, "a secret") == FAILED


def test_a_batch_whose_redaction_breaks_does_not_leave(receiver: Receiver, outboxes: Outboxes) -> None:
    def broken(_key: str, _text: str) -> str:
        raise RuntimeError("no way")

    outbox = outboxes(Encoder(redact=broken))
    tracer_of(outbox).start_span("secret").end()
    assert not outbox.flush(30)
    assert receiver.asked == []


@pytest.mark.parametrize(("wish", "word"), [("(", "no regular expression"), ([7], "not int")])
def test_a_wish_that_means_nothing_is_said_at_once(wish: Any, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        redactor(wish)


def test_no_wish_is_no_redaction() -> None:
    assert redactor(None) is None
    assert redactor([]) is None
