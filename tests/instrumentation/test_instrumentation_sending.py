"""From an ended span to the service: what is sent, what is kept, what is given up, and that the agent never waits."""

from __future__ import annotations

import logging
import stat
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from support.agents import Outboxes, eventually, tracer_of
from support.otlp_receiver import Receiver, values
from support.service import KEY

from whileai_instrumentation import warnings_once
from whileai_instrumentation.encoding import Encoder
from whileai_instrumentation.identity import Identity
from whileai_instrumentation.outbox import UNCROWDED
from whileai_instrumentation.processors import OutboxLogProcessor, OutboxSpanProcessor
from whileai_instrumentation.signals import Signal
from whileai_instrumentation.spool import Spool


def emptied(spool: Spool) -> list[tuple[Signal, bytes]]:
    """Everything in a spool, taken out in order."""
    requests: list[tuple[Signal, bytes]] = []

    def take(signal: Signal, body: bytes) -> bool:
        requests.append((signal, body))
        return True

    spool.resend(take)
    return requests


def test_a_span_arrives_compressed_with_the_key_and_whose_it_is(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes(Encoder(Identity("refund-bot", "v4", "support")))
    with tracer_of(outbox).start_as_current_span("run"):
        pass
    assert outbox.flush(30)
    assert receiver.names() == ["run"]
    assert receiver.requests[0]["x-api-key"] == KEY
    assert receiver.requests[0]["content-encoding"] == "gzip"
    resource = values(receiver.resources()[0].attributes)
    assert resource["gen_ai.agent.version"] == "v4"
    assert (resource["whileai.agent"], resource["whileai.dataset"]) == ("refund-bot", "support")
    assert receiver.span("run")["gen_ai.agent.name"] == "refund-bot"


def test_the_given_agent_takes_the_frameworks_name_on_the_root_only(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes(Encoder(Identity("refund-bot")))
    tracer = tracer_of(outbox)
    with (
        tracer.start_as_current_span("root", attributes={"gen_ai.agent.name": "Agent"}),
        tracer.start_as_current_span("helper", attributes={"gen_ai.agent.name": "Helper"}),
    ):
        pass
    assert outbox.flush(30)
    assert receiver.span("root") == {"gen_ai.agent.name": "refund-bot", "whileai.framework_agent": "Agent"}
    assert receiver.span("helper") == {"gen_ai.agent.name": "Helper"}


def test_log_records_arrive_beside_spans(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes()
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(OutboxLogProcessor(outbox))
    provider.get_logger("tests").emit(_logs.LogRecord(event_name="gen_ai.choice", body={"content": "hello"}))
    with tracer_of(outbox).start_as_current_span("run"):
        pass
    assert outbox.flush(30)
    assert [record.event_name for record in receiver.records()] == ["gen_ai.choice"]
    assert receiver.names() == ["run"]


def test_nothing_is_sent_twice_and_nothing_is_missing(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes()
    tracer = tracer_of(outbox)
    for number in range(2000):
        tracer.start_span(str(number)).end()
        if number % 500 == 0:
            outbox.flush(30)
    assert outbox.flush(30)
    assert sorted(receiver.names(), key=int) == [str(number) for number in range(2000)]


def test_a_service_that_does_not_answer_costs_no_more_than_the_queue(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes(most_items=1000)
    receiver.open.clear()
    tracer = tracer_of(outbox)
    tracer.start_span("first").end()
    receiver.knocked.wait(30)
    for number in range(3000):  # returns at once, or this test would hang with the service
        tracer.start_span(str(number)).end()
    receiver.open.set()
    assert outbox.flush(30)
    assert receiver.names() == ["first", *(str(number) for number in range(1000))]


def test_large_spans_are_bounded_by_their_bytes(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes(most_bytes=10_000)
    receiver.open.clear()
    tracer = tracer_of(outbox)
    tracer.start_span("first").end()
    receiver.knocked.wait(30)
    for number in range(200):
        tracer.start_span(str(number), attributes={"text": "x" * 3000}).end()
    receiver.open.set()
    assert outbox.flush(30)
    assert receiver.names() == ["first", *(str(number) for number in range(UNCROWDED + 3))]


def test_a_request_stays_well_below_what_the_service_takes(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes()
    receiver.open.clear()
    tracer = tracer_of(outbox)
    tracer.start_span("first").end()
    receiver.knocked.wait(30)
    for number in range(20):
        tracer.start_span(str(number), attributes={"text": "x" * 1_000_000}).end()
    receiver.open.set()
    assert outbox.flush(30)
    assert [request.ByteSize() // 1_000_000 for request in receiver.traces] == [0, 8, 8, 4]


def test_what_a_busy_service_will_not_take_waits_on_disk_and_is_sent_later(
    receiver: Receiver, outboxes: Outboxes, tmp_path: Path
) -> None:
    outbox = outboxes(spool=tmp_path / "spool")
    tracer = tracer_of(outbox)
    receiver.status, receiver.headers = 503, {"retry-after": "0"}
    tracer.start_span("while away").end()
    assert not outbox.flush(30)
    assert Spool(tmp_path / "spool").waiting()
    receiver.status = 200
    tracer.start_span("when back").end()
    assert outbox.flush(30)
    eventually(lambda: not Spool(tmp_path / "spool").waiting())
    assert sorted(receiver.names()) == ["when back", "while away"]


def test_during_an_outage_the_service_is_left_alone(receiver: Receiver, outboxes: Outboxes, tmp_path: Path) -> None:
    outbox = outboxes(spool=tmp_path)
    tracer = tracer_of(outbox)
    receiver.status, receiver.headers = 503, {"retry-after": "3600"}
    for number in range(20):
        tracer.start_span(str(number)).end()
        assert not outbox.flush(30)
    assert len(receiver.asked) == 1
    assert len(list(tmp_path.glob("*.otlp.gz"))) == 20


def test_what_was_not_sent_before_the_end_is_sent_by_the_next_process(
    receiver: Receiver, outboxes: Outboxes, tmp_path: Path
) -> None:
    away = outboxes(spool=tmp_path, url="http://127.0.0.1:9")  # nothing listens there
    tracer_of(away).start_span("of the first process").end()
    away.close(5)
    following = outboxes(spool=tmp_path)
    tracer_of(following).start_span("of the second").end()
    assert following.flush(30)
    eventually(lambda: not Spool(tmp_path).waiting())
    assert sorted(receiver.names()) == ["of the first process", "of the second"]


def test_closing_does_not_wait_for_a_service_that_does_not_answer(
    receiver: Receiver, outboxes: Outboxes, tmp_path: Path
) -> None:
    outbox = outboxes(spool=tmp_path)
    receiver.open.clear()
    tracer = tracer_of(outbox)
    tracer.start_span("on its way").end()
    receiver.knocked.wait(30)
    tracer.start_span("waiting").end()
    outbox.close(0.2)
    (request,) = emptied(Spool(tmp_path))
    assert b"on its way" in request[1]
    assert b"waiting" in request[1]


def test_a_refused_request_is_told_once_and_not_kept(
    receiver: Receiver, outboxes: Outboxes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = outboxes(spool=tmp_path)
    receiver.status = 400
    with caplog.at_level(logging.WARNING, "whileai"):
        for _ in range(3):
            tracer_of(outbox).start_span("bad").end()
            assert not outbox.flush(30)
    assert [record.getMessage() for record in caplog.records] == [f"{receiver.url} refused 1 traces: HTTP 400"]
    assert not Spool(tmp_path).waiting()


def test_a_wrong_key_loses_nothing_and_says_the_way_out(
    receiver: Receiver, outboxes: Outboxes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = outboxes(spool=tmp_path)
    receiver.status = 401
    with caplog.at_level(logging.WARNING, "whileai"):
        tracer_of(outbox).start_span("kept").end()
        assert not outbox.flush(30)
    assert "set WHILEAI_API_KEY or run `whileai login`" in caplog.text
    assert Spool(tmp_path).waiting()


def test_without_a_spool_an_outage_is_a_loss_that_is_told(outboxes: Outboxes, caplog: pytest.LogCaptureFixture) -> None:
    outbox = outboxes(url="http://127.0.0.1:9")
    with caplog.at_level(logging.WARNING, "whileai"):
        tracer_of(outbox).start_span("lost").end()
        assert not outbox.flush(30)
    assert "1 traces could not be sent and are lost" in caplog.text


def test_one_item_that_cannot_be_encoded_costs_only_itself(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes()
    tracer = tracer_of(outbox)
    tracer.start_span("before").end()
    outbox.put(Signal.TRACES, object())
    tracer.start_span("after").end()
    assert outbox.flush(30)
    assert receiver.names() == ["before", "after"]


def test_a_fault_while_looking_at_a_span_never_reaches_the_agent(
    outboxes: Outboxes, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = outboxes()
    strange: Any = object()
    with caplog.at_level(logging.WARNING, "whileai"):
        OutboxSpanProcessor(outbox).on_start(strange)
        OutboxSpanProcessor(outbox).on_end(strange)
        OutboxLogProcessor(outbox).on_emit(strange)
    assert "a span or log record was not looked at: AttributeError" in caplog.text


def test_flushing_nothing_is_at_once_true(outboxes: Outboxes) -> None:
    assert outboxes(url="http://127.0.0.1:9").flush(0)


def test_an_outbox_takes_nothing_after_its_end(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes()
    outbox.close()
    tracer_of(outbox).start_span("late").end()
    assert outbox.flush(1)
    assert receiver.asked == []


def test_the_spool_is_for_its_owner_alone(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    assert spool.keep(Signal.TRACES, b"secret")
    (file,) = (tmp_path / "spool").glob("*.otlp.gz")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_full_spool_gives_up_its_oldest(tmp_path: Path) -> None:
    spool = Spool(tmp_path, most_bytes=200)
    for number in range(20):
        assert spool.keep(Signal.LOGS, str(number).encode())
    kept = [body for _, body in emptied(spool)]
    assert kept == [str(number).encode() for number in range(20 - len(kept), 20)]
    assert 0 < len(kept) < 20


def test_a_request_larger_than_the_spool_is_not_kept(tmp_path: Path) -> None:
    assert not Spool(tmp_path, most_bytes=10).keep(Signal.TRACES, b"x")


def test_a_damaged_file_in_the_spool_is_removed_and_the_others_are_sent(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    (tmp_path / "00-1-1.traces.otlp.gz").write_bytes(b"no gzip")
    (tmp_path / "01-1-1.gossip.otlp.gz").write_bytes(b"no signal")
    spool.keep(Signal.TRACES, b"sound")
    assert emptied(spool) == [(Signal.TRACES, b"sound")]
    assert not spool.waiting()


def test_a_spool_that_another_process_sends_is_left_to_it(tmp_path: Path) -> None:
    spool, other = Spool(tmp_path), Spool(tmp_path)
    spool.keep(Signal.TRACES, b"one")
    meanwhile: list[tuple[Signal, bytes]] = []

    def send(_signal: Signal, _body: bytes) -> bool:
        meanwhile.extend(emptied(other))
        return True

    spool.resend(send)
    assert meanwhile == []
    assert not other.waiting()


def test_a_folder_that_cannot_be_written_is_told_and_harms_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING, "whileai"):
        assert not Spool(tmp_path / "file" / "spool").keep(Signal.TRACES, b"x")
    assert "cannot be kept" in caplog.text


def test_one_kind_of_trouble_is_told_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "whileai"):
        for number in range(5):
            warnings_once.warn("kind", "number %d", number)
        warnings_once.warn("other", "another")
    assert [record.getMessage() for record in caplog.records] == ["number 0", "another"]


def test_flushing_over_grpc_reaches_the_service(service: Any, outboxes: Outboxes) -> None:
    from whileai_instrumentation.courier import Courier
    from whileai_instrumentation.grpc_transport import GrpcTransport

    outbox = outboxes()
    outbox.hand_over(Courier(GrpcTransport(service.grpc, KEY), Encoder(), None, service.grpc))
    span = tracer_of(outbox).start_span("over grpc")
    span.end()
    assert outbox.flush(30)
    with service.client() as client:
        run = client.get(f"/traces/{span.get_span_context().trace_id:032x}").json()
    assert [one["name"] for one in run["spans"]] == ["over grpc"]
