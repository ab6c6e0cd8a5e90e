"""Datasets and agents by id, and fetching rows."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from client.recording_service import Answer, Service

import whileai.simulations as wai
from whileai import traces, transport
from whileai.errors import PlatformError

ROWS = [{"prompt": f"ask {n}", "reward": n % 2} for n in range(5)]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def stored(platform: Service) -> Service:
    """A dataset in two parts, the first without an end to its last line, the second with a blank first one."""
    platform.answers("GET", "/datasets/ds_1/download", {"parts": [f"{platform.url}/part/1?sig=a", "/part/2", 7]})
    platform.answers("GET", "/part/1", Answer(body=lines(ROWS[:2]).rstrip()))
    platform.answers("GET", "/part/2", Answer(body=b"\n" + lines(ROWS[2:])))
    return platform


def test_rows_come_back_in_order_over_all_parts(stored: Service) -> None:
    assert wai.pull("ds_1") == ROWS
    assert [request.path for request in stored.requests] == ["/datasets/ds_1/download", "/part/1", "/part/2"]


def test_a_link_is_followed_without_the_key(stored: Service) -> None:
    wai.pull("ds_1")
    assert ["x-api-key" in request.headers for request in stored.requests] == [True, False, False]


def test_a_file_holds_the_same_rows_line_by_line(stored: Service, tmp_path: Path) -> None:
    target = tmp_path / "train.jsonl"
    assert wai.pull("ds_1", str(target)) == str(target)
    assert target.read_bytes() == lines(ROWS)
    assert target.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    assert stored.requests


def test_a_single_link_is_enough(platform: Service) -> None:
    platform.answers("GET", "/datasets/ds_1/download", {"downloadUrl": f"{platform.url}/whole"})
    platform.answers("GET", "/whole", Answer(body=lines(ROWS)))
    assert wai.pull("ds_1") == ROWS


def test_an_empty_dataset_is_no_rows(platform: Service) -> None:
    platform.answers("GET", "/datasets/ds_1/download", {"parts": ["/part/1"]})
    platform.answers("GET", "/part/1", Answer(body=b""))
    assert wai.pull("ds_1") == []


def test_a_part_that_breaks_off_is_asked_for_again_and_nothing_comes_twice(stored: Service, tmp_path: Path) -> None:
    broken = Answer(body=b"\n" + lines(ROWS[2:]), cut_at=30)
    stored.answers("GET", "/part/2", broken, broken, Answer(body=lines(ROWS[2:])))
    wai.pull("ds_1", tmp_path / "train.jsonl")
    assert (tmp_path / "train.jsonl").read_bytes() == lines(ROWS)


def test_a_file_appears_whole_or_not_at_all(stored: Service, tmp_path: Path) -> None:
    target = tmp_path / "train.jsonl"
    target.write_text("what was there")
    stored.answers("GET", "/part/2", Answer(body=lines(ROWS), cut_at=30))
    with pytest.raises(PlatformError, match="failed"):
        wai.pull("ds_1", target)
    assert target.read_text() == "what was there"
    assert [file.name for file in tmp_path.glob("*.jsonl*")] == ["train.jsonl"]
    assert not list(tmp_path.glob(".*"))


def test_an_expired_link_is_said_without_the_signature_in_it(stored: Service) -> None:
    stored.answers("GET", "/part/1", Answer(403, {"error": "the link has expired"}))
    with pytest.raises(PlatformError, match="the link has expired") as caught:
        wai.pull("ds_1")
    assert "sig=a" not in str(caught.value)


def test_a_line_that_is_no_row_is_named(platform: Service) -> None:
    platform.answers("GET", "/datasets/ds_1/download", {"parts": ["/part/1"]})
    platform.answers("GET", "/part/1", Answer(body=b'{"prompt": "a"}\n{half\n'))
    with pytest.raises(PlatformError, match="line 2 of ds_1 is not JSON"):
        wai.pull("ds_1")


def test_a_dataset_of_somebody_else_is_looked_for_in_the_catalog(stored: Service) -> None:
    stored.answers("GET", "/catalog/ds_public/download", {"parts": ["/part/1"]})
    assert wai.pull("ds_public") == ROWS[:2]
    assert "x-api-key" not in stored.requests[1].headers


def test_the_catalog_needs_no_key(stored: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHILEAI_API_KEY")
    stored.answers("GET", "/catalog/ds_public/download", {"parts": ["/part/1"]})
    assert wai.pull("ds_public") == ROWS[:2]
    stored.answers("GET", "/catalog", {"datasets": [], "agents": []})
    assert wai.catalog() == {"datasets": [], "agents": []}
    assert not any("x-api-key" in request.headers for request in stored.requests)
    with pytest.raises(PlatformError, match="no dataset ds_1 in the public catalog, and there is no key"):
        wai.pull("ds_1")


def test_a_dataset_that_is_nowhere_is_said_with_the_key_that_was_used(platform: Service) -> None:
    with pytest.raises(PlatformError, match="the key from WHILEAI_API_KEY owns none of that id") as caught:
        wai.pull("ds_nowhere")
    assert caught.value.status == 404
    assert len(platform.requests) == 2


def test_a_refused_key_is_not_taken_for_a_missing_dataset(platform: Service) -> None:
    platform.answers("GET", "/datasets/ds_404/download", Answer(401, {"error": "404 keys tried"}))
    with pytest.raises(PlatformError, match="401"):
        wai.pull("ds_404")
    assert len(platform.requests) == 1


def test_a_dataset_that_is_not_finished_is_said(platform: Service) -> None:
    platform.answers("GET", "/datasets/ds_1/download", {})
    with pytest.raises(PlatformError, match="is it finished"):
        wai.pull("ds_1")


def test_an_id_is_one_piece_of_the_path_whatever_is_in_it(platform: Service) -> None:
    with pytest.raises(PlatformError):
        wai.preview("../me?x=1")
    assert platform.last.path == "/datasets/..%2Fme%3Fx%3D1/preview"


@pytest.mark.parametrize(
    ("call", "method", "path", "body"),
    [
        (lambda: wai.datasets(), "GET", "/datasets", None),
        (lambda: wai.preview("ds_1"), "GET", "/datasets/ds_1/preview", None),
        (lambda: wai.delete_dataset("ds_1"), "DELETE", "/datasets/ds_1", None),
        (lambda: wai.publish("ds_1", "bot"), "POST", "/datasets/ds_1/publish", {"agent": "bot"}),
        (
            lambda: wai.publish("ds_1", "bot", "words"),
            "POST",
            "/datasets/ds_1/publish",
            {"agent": "bot", "description": "words"},
        ),
        (lambda: wai.unpublish("ds_1"), "POST", "/datasets/ds_1/unpublish", None),
        (lambda: wai.update_dataset("ds_1", purpose="eval"), "POST", "/datasets/ds_1/meta", {"purpose": "eval"}),
        (lambda: wai.register_agent("Bot", tools=[]), "POST", "/agents", {"name": "Bot", "tools": []}),
        (lambda: traces.get("AB", spans=False), "GET", "/traces/AB", None),
    ],
)
def test_a_call_asks_what_the_contract_says(
    platform: Service, call: Any, method: str, path: str, body: dict[str, Any] | None
) -> None:
    platform.answers(method, path, {"the": "answer"})
    assert call() == {"the": "answer"}
    assert (platform.last.json if platform.last.body else None) == body


def test_a_profile_is_unwrapped_and_computed_afresh_when_asked(platform: Service) -> None:
    platform.answers("GET", "/datasets/ds_1/profile", {"profile": {"rows": 3}})
    assert wai.profile("ds_1") == {"rows": 3}
    assert platform.last.query == {}
    wai.profile("ds_1", force=True)
    assert platform.last.query == {"force": "1"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "nothing to change"),
        ({"purpose": "raw"}, "'raw' is not one of train, holdout, eval"),
        ({"mode": "x"}, "'x' is not"),
    ],
)
def test_a_change_that_the_service_would_refuse_is_not_sent(
    platform: Service, fields: dict[str, str], said: str
) -> None:
    with pytest.raises(PlatformError, match=said):
        wai.update_dataset("ds_1", **fields)
    assert platform.requests == []


def test_only_empty_datasets_are_deleted_and_a_dry_run_deletes_none(platform: Service) -> None:
    rows = [
        {"datasetId": "ds_full", "sizeBytes": 9, "rows": 9},
        {"datasetId": "ds_empty", "sizeBytes": 0, "rows": 0},
        {"datasetId": "ds_small", "sizeBytes": 9, "rows": 2},
    ]
    platform.answers("GET", "/datasets", {"datasets": rows})
    platform.answers("DELETE", "/datasets/ds_empty", Answer(204, b""))
    assert wai.delete_empty_datasets(max_rows=2, dry_run=True) == {
        "datasets": ["ds_empty", "ds_small"],
        "deleted": False,
    }
    assert {request.method for request in platform.requests} == {"GET"}
    assert wai.delete_empty_datasets() == {"datasets": ["ds_empty"], "deleted": True}
    assert [request.path for request in platform.requests if request.method == "DELETE"] == ["/datasets/ds_empty"]


def test_runs_are_found_page_by_page_up_to_the_limit(platform: Service) -> None:
    first = {"traces": [{"traceId": f"{n}"} for n in range(200)], "next": "c1"}
    platform.answers("GET", "/traces", first, {"traces": [{"traceId": "200"}], "next": None})
    assert len(list(traces.search(agent="bot", since="7d", verdict=None))) == 201
    assert [request.query for request in platform.requests] == [
        {"agent": "bot", "from": "7d", "limit": "200"},
        {"agent": "bot", "from": "7d", "limit": "200", "cursor": "c1"},
    ]
    platform.requests.clear()
    platform.answers("GET", "/traces", {"traces": [{"traceId": "1"}, {"traceId": "2"}], "next": "c"})
    assert len(list(traces.search(limit=2))) == 2
    assert [request.query for request in platform.requests] == [{"limit": "2"}]


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_number_of_attempts_is_bounded(stored: Service) -> None:
    stored.answers("GET", "/part/1", Answer(body=lines(ROWS), cut_at=5))
    with pytest.raises(PlatformError):
        wai.pull("ds_1")
    assert [request.path for request in stored.requests].count("/part/1") == transport.ATTEMPTS
