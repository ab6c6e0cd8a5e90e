"""Imports and pushes that die with the service: the next start says so, and they can be run again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from support.hub import TOKEN, USER, Hub
from support.rows import shelf
from support.service import Service

from whileai_query.answers import encode_json

ROWS = b"".join(encode_json(row) + b"\n" for row in shelf())
SECONDS = 30


def until(state: Callable[[], Any], wanted: Any) -> None:
    end = time.monotonic() + SECONDS
    while (found := state()) != wanted:
        assert time.monotonic() < end, f"still {found!r}"
        time.sleep(0.05)


def test_an_import_and_a_push_that_were_killed_say_so_and_run_again(tmp_path: Path) -> None:
    with Hub() as hub, Service(tmp_path, {"HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1"}) as service:
        hub.publish("somebody/rows", {"train.jsonl": ROWS})
        with service.client() as client:
            client.post("/hf/me", json={"token": TOKEN}).raise_for_status()
            made = client.post("/datasets", json={"name": "pushed"}).json()
            httpx.put(made["uploadUrl"], content=ROWS).raise_for_status()
            client.post(f"/datasets/{made['datasetId']}/finalize").raise_for_status()
            client.post(f"/datasets/{made['datasetId']}/hf-publish", json={"repo": "twice"}).raise_for_status()
            until(lambda: client.get(f"/datasets/{made['datasetId']}").json()["hf"]["status"], "done")

            hub.open.clear()
            client.post(f"/datasets/{made['datasetId']}/hf-publish", json={"repo": "twice"}).raise_for_status()
            asked = {"repo": "somebody/rows"}
            imported = client.post("/datasets/import-hf", json=asked).raise_for_status().json()["datasetId"]
            assert client.post(f"/datasets/{made['datasetId']}/hf-publish").status_code == 409
            until(lambda: sum("/resolve/" in request for request in hub.seen) >= 2, True)
        service.kill()
        hub.open.set()
        service.start()
        with service.client() as client:
            row = client.get(f"/datasets/{imported}").json()
            assert (row["status"], row["rows"]) == ("failed", 0)
            assert "run it again" in row["hfImport"]["error"]
            pushed = client.get(f"/datasets/{made['datasetId']}").json()["hf"]
            assert pushed["status"] == "error"
            assert "run it again" in pushed["error"]

            client.post(f"/datasets/{imported}/retry-import").raise_for_status()
            client.post(f"/datasets/{made['datasetId']}/hf-publish", json={"repo": "twice"}).raise_for_status()
            until(lambda: client.get(f"/datasets/{imported}").json()["status"], "ready")
            until(lambda: client.get(f"/datasets/{made['datasetId']}").json()["hf"]["status"], "done")
            assert client.get(f"/datasets/{imported}").json()["rows"] == 12
        assert hub.repositories[f"{USER}/twice"].tags.keys() == {f"zp-{made['datasetId']}"}
