"""Keys, tenants, and the one shape of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient
from support import otlp
from support.api import Caller

from whileai_ingest import Ingest, Store
from whileai_query import answers, create_api
from whileai_query.app import ROUTERS

# Their permission is in the link, or everybody has it.
OPEN = {
    ("GET", "/datasets/{dataset_id}/parts/{number}"),
    ("PUT", "/datasets/{dataset_id}/file"),
    ("GET", "/catalog"),
    ("GET", "/catalog/{dataset_id}/download"),
    ("POST", "/device/code"),
    ("POST", "/device/token"),
    ("POST", "/signup"),
}


def routes() -> Iterator[tuple[str, str]]:
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.include_in_schema:
                yield from ((method, route.path) for method in sorted(route.methods or ()))


CLOSED = sorted(set(routes()) - OPEN)


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_every_route_needs_a_key(caller: Caller, method: str, path: str) -> None:
    for headers in ({"x-api-key": ""}, {"x-api-key": "zp_wrong_0123456789abcdef"}, {"x-api-key": "\u00e9".encode()}):
        status, _ = caller.refused(method, path, headers=headers)
        assert status == 401


@pytest.mark.parametrize("header", ["X-API-KEY", "x-Api-Key"])
def test_the_key_header_is_found_in_any_case(caller: Caller, header: str) -> None:
    assert caller.client.get("/me", headers={header: caller.key}).status_code == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_a_bearer_token_is_a_key_too(caller: Caller, scheme: str) -> None:
    assert caller.client.get("/me", headers={"authorization": f"{scheme} {caller.key}"}).status_code == 200


def test_a_key_without_the_scope_may_not(caller: Caller) -> None:
    registry = caller.services.registry
    caller.key = registry.keys.create(caller.account, "sender", ["ingest"]).secret
    trace_id = caller.run()
    assert caller.refused("GET", f"/traces/{trace_id}")[0] == 403
    assert caller.refused("DELETE", f"/traces/{trace_id}")[0] == 403
    assert caller.post("/v1/scores", {"traceId": trace_id, "value": 1})["applied"] == 1


def test_what_belongs_to_another_account_is_not_there(new_caller: Callable[[], Caller]) -> None:
    mine, other = new_caller(), new_caller()
    trace_id = mine.task("sc_1", [1, 0])[0]
    (made,) = mine.post("/datasets/cut", {"holdout": 0})["made"]
    mine.post("/agents", {"name": "refund-bot", "description": "mine"})
    (day,) = [row["datasetId"] for row in mine.get("/datasets")["datasets"] if row["purpose"] == "eval"]
    for path in (
        f"/traces/{trace_id}",
        f"/traces/{trace_id[:16]}",
        f"/traces/{trace_id}?format=otlp",
        *(f"/datasets/{one}{part}" for one in (made["datasetId"], day) for part in ("", "/download", "/preview")),
    ):
        assert other.refused("GET", path)[0] == 404, path
    for path in (f"/traces/{trace_id}", f"/datasets/{made['datasetId']}", f"/datasets/{day}", "/agents/refund-bot"):
        assert other.request("DELETE", path).status_code == 204
    assert other.get("/traces", **{"from": "all"})["traces"] == []
    assert (other.get("/datasets")["datasets"], other.get("/agents")["agents"]) == ([], [])
    assert other.get("/traces/cuts")["runs"] == 0
    assert len(mine.get("/traces", **{"from": "all"})["traces"]) == 2
    assert mine.get(f"/datasets/{made['datasetId']}")["rows"] == 2


def test_the_same_trace_id_in_two_accounts_is_two_runs(new_caller: Callable[[], Caller]) -> None:
    mine, other = new_caller(), new_caller()
    trace_id = otlp.new_trace_id()
    mine.send_spans(otlp.chat_run(trace_id, agent="mine"))
    other.send_spans(otlp.chat_run(trace_id, agent="other"))
    mine.request("DELETE", f"/traces/{trace_id}")
    assert mine.refused("GET", f"/traces/{trace_id}")[0] == 404
    assert other.get(f"/traces/{trace_id}")["agent"] == "other"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/" + "x" * 2000, 404),
        ("PATCH", "/traces", 405),
        ("GET", "/traces/", 404),
        ("POST", "/agents/", 404),
        ("GET", "/traces/not-an-id", 404),
        ("GET", "/traces/" + "a" * 32, 404),
        ("GET", "/traces/" + "a" * 32 + "?format=otlp", 404),
        ("GET", "/traces/" + "a" * 32 + "?format=xml", 400),
        ("GET", "/traces/" + "a" * 32 + "?spans=some", 400),
        ("GET", "/datasets/../../etc/passwd", 404),
        ("GET", "/datasets/ds_nothing", 404),
        ("GET", "/datasets/ds_nothing/download", 404),
        ("GET", "/datasets?purpose=fun", 400),
        ("GET", "/datasets?cursor=x", 400),
        ("GET", "/rejections?cursor=x", 400),
        ("GET", "/agents?agent=x", 400),
    ],
)
def test_errors_have_one_shape(caller: Caller, method: str, path: str, status: int) -> None:
    assert caller.refused(method, path)[0] == status


def test_a_long_reason_is_cut_to_fit() -> None:
    answer = answers.error_answer(400, "\U0001f600" * 5000)
    assert 300 < len(answer.body) < 400


def test_deleting_is_idempotent(caller: Caller) -> None:
    trace_id = caller.run()
    for _ in range(2):
        assert caller.request("DELETE", f"/traces/{trace_id}").status_code == 204
        assert caller.refused("GET", f"/traces/{trace_id}")[0] == 404
        assert caller.get("/traces", state="complete")["traces"] == []
    for path in ("/traces/nonsense", "/traces/" + "0" * 32, "/datasets/ds_nothing", "/agents/nobody"):
        assert caller.request("DELETE", path).status_code == 204


def test_a_store_that_is_away_is_a_reason_to_come_back_later(caller: Caller, tmp_path: Path) -> None:
    nobody = Store("clickhouse://127.0.0.1:1")
    ingest = Ingest(tmp_path / "journal", nobody, CollectorRegistry(), journal_max_bytes=1 << 20)
    api = create_api(replace(caller.services, ingest=ingest))
    with TestClient(api, raise_server_exceptions=False) as client:
        answer = client.get("/traces?from=all", headers={"x-api-key": caller.key})
    ingest.close()
    assert answer.status_code == 503
    assert answer.json()["error"].startswith("ClickHouse cannot be reached")
    assert int(answer.headers["retry-after"]) >= 1


def test_a_failure_of_ours_tells_no_secrets(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: Any) -> Any:
        raise RuntimeError("a secret")

    monkeypatch.setattr("whileai_query.trace_routes.list_runs", broken)
    status, message = caller.refused("GET", "/traces", params={"from": "all"})
    assert status == 500
    assert "secret" not in message


def test_a_run_whose_arguments_are_nested_without_end_is_shown_and_cut(caller: Caller) -> None:
    deep = '[{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"f","arguments":{"x":%s}}]}]'
    for levels, trace_id in ((700, otlp.new_trace_id()), (950, otlp.new_trace_id())):
        root, chat = otlp.chat_run(trace_id, scenario=f"deep/{levels}", reward=1.0)
        kept = [pair for pair in chat.attributes if pair.key != "gen_ai.output.messages"]
        del chat.attributes[:]
        chat.attributes.extend(kept)
        added = chat.attributes.add(key="gen_ai.output.messages")
        added.value.string_value = deep % ("[" * levels + "]" * levels)
        caller.send_spans([root, chat])
        assert caller.get(f"/traces/{trace_id}")["spanCount"] == 2
    made = caller.post("/datasets/cut", {"kind": "sft"})["made"]
    assert sum(entry["rows"] for entry in made) == 2
