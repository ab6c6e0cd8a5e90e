"""What pages are made of: text made visible, numbers, turns, bars, and the mail with a code."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from whileai_dialects import Span
from whileai_query.errors import NotNow
from whileai_query.pages import formats
from whileai_query.pages.mail import send_mail
from whileai_query.pages.plotly_bundle import plotly_style_ids
from whileai_query.pages.steps import text_at, turns_of
from whileai_query.pages.text import FOLD_CHARS, MOST_CHARS, fold, one_line, plain, visible
from whileai_query.pages.waterfall import COLUMNS, waterfall


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred", "⟨ESC⟩[31mred"),
        ("a\u202egnp.exe", "a⟨U+202E⟩gnp.exe"),
        ("hidden\U000e0041", "hidden⟨U+E0041⟩"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("nul\0 cr\r", "nul⟨NUL⟩ cr⟨CR⟩"),
        ("\x9b1m", "⟨U+009B⟩1m"),
        ("line\r\nline\ttab", "line\nline\ttab"),
        ("שלום 👨‍👩‍👧 ok", "שלום 👨‍👩‍👧 ok"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(hostile: str, shown: str) -> None:
    assert visible(hostile) == shown
    assert visible(hostile).encode()


def test_a_long_text_is_folded_and_a_huge_one_cut() -> None:
    assert fold("short").whole == ""
    long = fold("x" * (FOLD_CHARS + 1))
    assert (len(long.head), len(long.whole), long.cut) == (FOLD_CHARS, FOLD_CHARS + 1, False)
    many_lines = fold("line\n" * 100)
    assert many_lines.head.count("\n") < 20
    huge = fold("x" * 3_000_000)
    assert (len(huge.whole), huge.chars, huge.cut) == (MOST_CHARS, 3_000_000, True)


def test_a_value_is_one_line_when_it_is_short() -> None:
    assert plain({"order_id": "A-1001"}) == '{"order_id": "A-1001"}'
    assert plain("text stays\nas it is") == "text stays\nas it is"
    assert plain({"key": "x" * 100}).startswith('{\n  "key"')
    assert one_line("two\nlines  and\tmore", 12) == "two lines a…"


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (formats.duration(0.42), "0.4 ms"),
        (formats.duration(830), "830 ms"),
        (formats.duration(59_940), "59.9 s"),
        (formats.duration(59_999), "1 m 0 s"),
        (formats.duration(7_500_000), "2 h 5 m"),
        (formats.duration(None), "–"),
        (formats.compact(9_999), "9,999"),
        (formats.compact(12_345), "12.3k"),
        (formats.compact(4_100_000), "4.1M"),
        (formats.usd(12.3), "$12.30"),
        (formats.usd(0.00031), "$0.00031"),
        (formats.usd(0.000006), "<$0.0001"),
        (formats.usd(0), "$0.00"),
        (formats.percent(0.004), "0.4%"),
        (formats.percent(0.45), "45%"),
        (formats.percent(formats.share(1, 0)), "–"),
        (formats.size(4_100), "4.1 kB"),
        (formats.many(1, "run"), "1 run"),
        (formats.many(1_204, "run"), "1,204 runs"),
    ],
)
def test_numbers_read_as_a_person_says_them(shown: str, words: str) -> None:
    assert shown == words


def view(**told: Any) -> dict[str, Any]:
    return {"system": None, "prompt": None, "steps": [], "finalText": None, **told}


def test_a_turn_is_told_once() -> None:
    steps = [
        {"user": "hi"},
        {"tool": "look", "arguments": {"id": 1}, "result": "found", "callId": None, "error": None},
        {"text": "bye"},
    ]
    turns = turns_of(view(system="be kind", prompt="hi", steps=steps, finalText="bye"))
    assert [turn.kind for turn in turns] == ["system", "user", "tool", "assistant"]
    turns = turns_of(view(prompt="hi", steps=steps[1:2], finalText="bye"))
    assert [(turn.kind, turn.text) for turn in turns] == [("user", "hi"), ("tool", None), ("assistant", "bye")]


def test_a_whole_text_is_found_at_its_place() -> None:
    run = view(prompt="ask", steps=[{"tool": "look", "arguments": {"id": 1}, "result": None}, {"text": "bye"}])
    assert text_at(run, "prompt") == "ask"
    assert text_at(run, "step.0.arguments") == '{"id": 1}'
    assert text_at(run, "step.1") == "bye"
    for nowhere in ("step.0.result", "step.9", "step.-1", "step.x", "step", "", "final", "step." + "9" * 5_000):
        assert text_at(run, nowhere) is None, nowhere


def spans(*told: tuple[str, str | None, int, float]) -> list[Span]:
    """Of (name, parent, start in ms, length in ms); the name is the id, too."""
    ids = {name: f"{number:016x}" for number, (name, *_) in enumerate(told, 1)}
    return [
        Span(
            trace_id="1" * 32,
            span_id=ids[name],
            parent_span_id=ids.get(parent, "f" * 16) if parent else "",
            name=name,
            start=1_000_000_000 + start * 1_000_000,
            end=1_000_000_000 + int((start + length) * 1_000_000),
        )
        for name, parent, start, length in told
    ]


def rows(found: list[Span]) -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in waterfall(found)["rows"]]


def test_bars_stand_in_the_order_of_the_tree() -> None:
    found = rows(spans(("root", None, 0, 100), ("b", "root", 50, 10), ("a", "root", 5, 40), ("a1", "a", 6, 1)))
    assert [(row["name"], row["depth"], row["below"]) for row in found] == [
        ("root", 0, 3),
        ("a", 1, 1),
        ("a1", 2, 0),
        ("b", 1, 0),
    ]
    assert [(row["offsetUs"], row["durationUs"]) for row in found][:2] == [(0, 100_000), (5_000, 40_000)]


def test_an_orphan_and_a_ring_stand_as_roots() -> None:
    found = rows(
        spans(("root", None, 0, 9), ("orphan", "missing", 1, 1), ("ring1", "ring2", 2, 1), ("ring2", "ring1", 3, 1))
    )
    assert {row["name"]: (row["depth"], row["orphan"]) for row in found} == {
        "root": (0, 0),
        "orphan": (0, 1),
        "ring1": (0, 1),
        "ring2": (1, 0),
    }


def test_a_very_deep_trace_is_walked_without_recursion() -> None:
    chain = spans(("0", None, 0, 1), *((str(number), str(number - 1), number, 1.0) for number in range(1, 5_000)))
    found = rows(chain)
    assert (found[-1]["depth"], found[0]["below"]) == (4_999, 4_999)


def test_the_chart_librarys_style_elements_are_known() -> None:
    assert plotly_style_ids()[0] == "plotly.js-style-global"
    assert len(plotly_style_ids()) >= 2


class _Mailbox(socketserver.StreamRequestHandler):
    """A mail server that takes one letter."""

    letters: list[str] = []  # noqa: RUF012 - one mailbox for the one test

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            if line.upper().startswith(b"DATA"):
                self.wfile.write(b"354 go on\r\n")
                letter = b""
                while (part := self.rfile.readline()) not in (b".\r\n", b""):
                    letter += part
                self.letters.append(letter.decode())
            self.wfile.write(b"221 bye\r\n" if line.upper().startswith(b"QUIT") else b"250 fine\r\n")


@pytest.fixture
def mail_server() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mailbox) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_a_code_goes_out_by_smtp(mail_server: int) -> None:
    send_mail(
        f"smtp://127.0.0.1:{mail_server}?from=while@shop.example", "ana@example.com", "Your code", "It is 123456."
    )
    (letter,) = _Mailbox.letters
    assert "To: ana@example.com" in letter
    assert "From: while@shop.example" in letter
    assert "It is 123456." in letter


def test_a_mail_server_that_is_away_is_said_to_be() -> None:
    with pytest.raises(NotNow, match="could not be sent"):
        send_mail("smtp://127.0.0.1:1", "ana@example.com", "Your code", "It is 123456.")
