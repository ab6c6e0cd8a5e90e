"""The document of the API against the API: every parameter it names is taken, and nothing sent by it is a 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from support.api import Caller

METHODS = ("get", "post", "put", "patch", "delete")


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def test_every_parameter_that_the_document_names_is_known_to_its_call(caller: Caller) -> None:
    named = 0
    for method, path, operation in operations(caller.get("/openapi.json")):
        for parameter in operation.get("parameters", ()):
            if method == "get" and parameter["in"] == "query":
                address = path.replace("{trace_id}", "ab" * 16).replace("{dataset_id}", "ds_none")
                answer = caller.request("GET", address, params={parameter["name"]: "?"})
                assert "unknown parameter" not in answer.text, (path, parameter["name"])
                named += 1
    assert named > 50


LISTS = {"/traces", "/traces/cuts", "/traces/cuts/tasks", "/datasets", "/agents", "/catalog", "/traffic", "/runs"}


def test_calls_that_take_no_query_refuse_one(caller: Caller) -> None:
    for method, path, operation in operations(caller.get("/openapi.json")):
        reads = {
            "/traces",
            "/traces/cuts",
            "/traces/cuts/tasks",
            "/datasets",
            "/agents",
            "/catalog",
            "/traffic",
            "/runs",
        }
        if method == "get" and path in reads:
            status, told = caller.refused("GET", path, params={"colour": "red"})
            assert status == 400
            assert "colour" in told, (path, operation)


def test_every_call_says_what_it_does_and_how_it_fails(caller: Caller) -> None:
    document = caller.get("/openapi.json")
    for method, path, operation in operations(document):
        assert operation["description"], (method, path)
        assert "default" in operation["responses"], (method, path)
        assert "422" not in operation["responses"], (method, path)
        if method in ("post", "put", "patch") and path not in WITHOUT_A_BODY:
            assert "requestBody" in operation, (method, path)
    assert set(document["components"]["securitySchemes"]) == {"key", "bearer"}


WITHOUT_A_BODY = {
    "/datasets/{dataset_id}/finalize",
    "/datasets/{dataset_id}/unpublish",
    "/datasets/{dataset_id}/retry-import",
}


def send(operation: APIOperation[Any, Any, Any, Any], caller: Caller, real: dict[str, str], examples: int) -> None:
    """Call one operation with what it allows and with what it does not, also on things that are there."""
    modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes]), there=st.booleans())
    def check(case: schemathesis.Case[Any], there: bool) -> None:
        if there:
            case.path_parameters = {name: real.get(name, value) for name, value in case.path_parameters.items()}
        answer = case.call(headers={"x-api-key": caller.key})
        case.validate_response(answer, checks=[not_a_server_error])
        assert answer.status_code < 400 or set(answer.json()) == {"error"}, answer.text

    check()


def walk(caller: Caller, examples: int) -> None:
    """Every call of the document."""
    trace_id = caller.task("walked", [1.0, 0.0])[0]
    dataset_id = caller.post("/datasets/cut", {"holdout": 0})["made"][0]["datasetId"]
    run_id = caller.post("/runs", {"agent": "refund-bot", "version": "v1"})["id"]
    real = {"trace_id": trace_id, "dataset_id": dataset_id, "number": "0", "agent_id": "refund-bot", "run_id": run_id}
    schema = schemathesis.openapi.from_asgi("/openapi.json", caller.client.app)
    walked = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        send(result.ok(), caller, real, examples)
        walked += 1
    assert walked > 40


def test_nothing_that_the_document_describes_is_a_500(caller: Caller) -> None:
    walk(caller, 8)


@pytest.mark.soak
def test_nothing_that_the_document_describes_is_a_500_for_long(caller: Caller) -> None:
    walk(caller, 400)
