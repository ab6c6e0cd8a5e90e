"""Storing rows, deleting what hangs off an agent, and short-lived credentials."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client.recording_service import Answer, Service

import whileai.platform
import whileai.simulations as wai
from whileai.errors import PlatformError

# With holdout=0.5, the tasks sc_0, sc_4 and sc_5 are held out: their buckets are 0.33; the others' are above 0.7.
ROWS = [{"prompt": f"p{n}", "scenario_id": f"sc_{n % 6}", "reward": n % 2} for n in range(12)]


@pytest.fixture
def storing(platform: Service) -> Service:
    created = [{"datasetId": f"ds_{n}", "uploadUrl": f"{platform.url}/upload/{n}?sig=s"} for n in (1, 2)]
    platform.answers("POST", "/datasets", *created)
    for n in (1, 2):
        platform.answers("PUT", f"/upload/{n}", Answer(200, b""))
        platform.answers("POST", f"/datasets/ds_{n}/finalize", {"datasetId": f"ds_{n}", "rows": 12})
    return platform


def sent_rows(body: bytes) -> list[Any]:
    assert body.endswith(b"\n")
    return [json.loads(line) for line in body.splitlines()]


def test_rows_are_created_put_and_finalized(storing: Service) -> None:
    entry = wai.push_rows(ROWS, "n", purpose="train", mode="rl", agent="bot", description="d", parent="ds_0")
    assert entry == {"datasetId": "ds_1", "rows": 12}
    create, put, finalize = storing.requests
    assert create.json == {
        "name": "n",
        "purpose": "train",
        "mode": "rl",
        "agent": "bot",
        "description": "d",
        "parentDatasetId": "ds_0",
    }
    assert sent_rows(put.body) == ROWS
    assert put.headers["content-type"] == "application/jsonl"
    assert put.headers["content-length"] == str(len(put.body))
    assert "x-api-key" not in put.headers
    assert "transfer-encoding" not in put.headers
    assert (finalize.body, finalize.headers["content-length"]) == (b"", "0")
    assert "content-type" not in finalize.headers


def test_what_is_not_said_is_not_sent_and_an_unknown_mode_neither(storing: Service) -> None:
    wai.push_rows([], "n", mode="weird")
    assert storing.requests[0].json == {"name": "n"}
    assert storing.requests[1].body == b""


def test_the_platform_module_calls_it_push() -> None:
    assert whileai.platform.push is wai.push_rows


def test_an_upload_that_breaks_is_sent_again_whole(storing: Service) -> None:
    storing.answers("PUT", "/upload/1", Answer(503, {"error": "busy"}), Answer(200, b""))
    wai.push_rows(ROWS, "n")
    puts = [request for request in storing.requests if request.method == "PUT"]
    assert len(puts) == 2
    assert puts[0].body == puts[1].body
    assert sent_rows(puts[1].body) == ROWS


def test_a_refused_upload_is_an_error_and_nothing_is_finalized(storing: Service) -> None:
    storing.answers("PUT", "/upload/1", Answer(413, {"error": "the storage of a trial is full"}))
    with pytest.raises(PlatformError, match="the storage of a trial is full") as caught:
        wai.push_rows(ROWS, "n")
    assert "sig=" not in str(caught.value)
    assert [request.method for request in storing.requests] == ["POST", "PUT"]


def test_a_holdout_is_a_second_set_of_other_tasks_linked_to_the_first(storing: Service) -> None:
    with pytest.warns(UserWarning, match=r"the holdout has 3 tasks; to prove a gain of 5 points"):
        entry = wai.push_rows(ROWS, "n", mode="rl", agent="bot", holdout=0.5)
    assert (entry["datasetId"], entry["holdout"]["datasetId"], entry["holdout_tasks"]) == ("ds_1", "ds_2", 3)
    train, held = (request for request in storing.requests if request.method == "PUT")
    assert {row["scenario_id"] for row in sent_rows(train.body)} == {"sc_1", "sc_2", "sc_3"}
    assert {row["scenario_id"] for row in sent_rows(held.body)} == {"sc_0", "sc_4", "sc_5"}
    second = [request for request in storing.requests if request.path == "/datasets"][1]
    assert second.json == {
        "name": "n-holdout",
        "purpose": "holdout",
        "mode": "rl",
        "agent": "bot",
        "parentDatasetId": "ds_1",
    }


def test_a_share_that_holds_out_nothing_makes_one_set(storing: Service) -> None:
    entry = wai.push_rows(ROWS, "n", holdout=0.01)
    assert "holdout" not in entry
    assert [request.path for request in storing.requests].count("/datasets") == 1


def test_a_holdout_that_is_large_enough_is_not_warned_of(storing: Service) -> None:
    many = [{"prompt": f"p{n}"} for n in range(400)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wai.push_rows(many, "n", purpose="holdout")
        with pytest.raises(UserWarning, match="gain of 1 points"):
            wai.push_rows(many, "n", purpose="holdout", prove_effect=0.01)
    assert storing.requests


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: wai.push_rows(ROWS, "n", purpose="raw"), "purpose='raw' is not one of train, holdout, eval"),
        (lambda: wai.push_rows(ROWS, "n", publish=True), "publish=True needs agent="),
        (lambda: wai.push_rows(ROWS, "n", holdout=1.0), "holdout=1.0 must be a share"),
        (lambda: wai.push_rows(ROWS, "n", holdout=0.999), "leaves no row to train on"),
        (lambda: wai.push_file("absent.jsonl", gate=False), "absent.jsonl"),
    ],
)
def test_a_push_that_cannot_be_is_refused_before_anything_is_created(
    storing: Service, call: Callable[[], Any], said: str
) -> None:
    with pytest.raises((PlatformError, ValueError, OSError), match=said):
        call()
    assert storing.requests == []


def test_values_that_json_lacks_become_text_and_nan_is_refused_by_row(storing: Service) -> None:
    wai.push_rows([{"prompt": "p", "path": Path("a/b")}], "n")
    assert sent_rows(storing.requests[1].body) == [{"prompt": "p", "path": "a/b"}]
    with pytest.raises(ValueError, match="row 1 cannot be written as JSON"):
        wai.push_rows([{"prompt": "p"}, {"prompt": "q", "reward": float("nan")}], "n")
    with pytest.raises(ValueError, match="row 0 cannot be written as JSON"):
        wai.push_rows([{"prompt": "\ud800"}], "n")


def test_publishing_adds_the_card(storing: Service) -> None:
    storing.answers("POST", "/datasets/ds_1/publish", {"card": 1})
    entry = wai.push_rows(ROWS, "n", agent="bot", description="d", publish=True)
    assert entry["card"] == {"card": 1}
    assert storing.last.json == {"agent": "bot", "description": "d"}


def test_a_file_is_stored_byte_for_byte_under_its_own_name(storing: Service, tmp_path: Path) -> None:
    file = tmp_path / "rollout.jsonl"
    content = b'{"prompt":"p"}\n\n  {"prompt" : "q"}'
    file.write_bytes(content)
    assert wai.push_file(str(file), gate=False, parent="ds_0")["datasetId"] == "ds_1"
    assert storing.requests[0].json == {"name": "rollout", "parentDatasetId": "ds_0"}
    assert storing.requests[1].body == content


def test_a_push_never_looks_gated_when_nothing_was_checked(storing: Service, tmp_path: Path) -> None:
    file = tmp_path / "rollout.jsonl"
    file.write_text("{}\n")
    with pytest.warns(UserWarning, match="nothing was checked"):
        wai.push_file(file)
    with pytest.warns(UserWarning, match="strict_hacks= and endorsed= included"):
        wai.push_rows(ROWS, "n", gate=True, strict_hacks=True)
    assert len(storing.requests) == 6


def test_a_service_that_gives_no_link_is_said(platform: Service) -> None:
    platform.answers("POST", "/datasets", {"datasetId": "ds_1"})
    with pytest.raises(PlatformError, match="without datasetId and uploadUrl"):
        wai.push_rows(ROWS, "n")


def test_purging_an_agent_deletes_what_is_its_and_nothing_else(platform: Service) -> None:
    platform.answers("GET", "/traces", {"traces": [{"traceId": "t1"}, {"traceId": "t2"}], "next": None})
    listing = [{"datasetId": "ds_a", "agent": "Bot"}, {"datasetId": "ds_b", "agent": "other"}, {"datasetId": "ds_c"}]
    platform.answers("GET", "/datasets", {"datasets": listing})
    expected = {"agent": "bot", "traces": 2, "datasets": 1}
    assert wai.purge_agent("Bot", dry_run=True) == {**expected, "deleted": False}
    assert {request.method for request in platform.requests} == {"GET"}
    assert platform.requests[0].query["agent"] == "bot"
    for path in ("/traces/t1", "/traces/t2", "/datasets/ds_a", "/agents/bot"):
        platform.answers("DELETE", path, Answer(204, b""))
    assert wai.purge_agent("Bot") == {**expected, "deleted": True}
    deleted = [request.path for request in platform.requests if request.method == "DELETE"]
    assert deleted == ["/traces/t1", "/traces/t2", "/datasets/ds_a", "/agents/bot"]


@pytest.mark.parametrize(
    ("call", "path", "body"),
    [
        (
            lambda: wai.issue_delegated_credential("session", ttl_seconds=60),
            "/auth/issue-credential",
            {"name": "sdk-default", "ttlSeconds": 60},
        ),
        (
            lambda: wai.refresh_delegated_credential("session", "zp_dc_x"),
            "/auth/refresh-credential",
            {"credential": "zp_dc_x", "ttlSeconds": 3600},
        ),
        (
            lambda: wai.revoke_delegated_credential("session", "zp_dc_x"),
            "/auth/revoke-credential",
            {"credential": "zp_dc_x"},
        ),
    ],
)
def test_a_delegated_credential_is_asked_for_with_the_session_not_the_key(
    platform: Service, call: Callable[[], Any], path: str, body: dict[str, Any]
) -> None:
    platform.answers("POST", path, {"credential": "zp_dc_x"})
    assert call() == {"credential": "zp_dc_x"}
    assert platform.last.json == body
    assert platform.last.headers["authorization"] == "Bearer session"
    assert "x-api-key" not in platform.last.headers


def test_without_a_session_no_credential_is_asked_for(platform: Service) -> None:
    with pytest.raises(PlatformError, match="a session token is needed to issue"):
        wai.issue_delegated_credential(None)
    assert platform.requests == []
