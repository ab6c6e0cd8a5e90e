"""Uploads that nobody finished go after a day, with their files; everything else stays."""

from __future__ import annotations

import os

from support.api import Caller
from support.rows import shelf

from whileai_query import sweep
from whileai_query.answers import encode_json
from whileai_query.sweeping import KEPT

ROWS = b"".join(encode_json(row) + b"\n" for row in shelf())


def test_an_upload_without_an_end_is_forgotten_with_its_file(caller: Caller) -> None:
    sent, unsent, finished = (caller.post("/datasets", {"name": name}) for name in ("sent", "unsent", "finished"))
    for made in (sent, finished):
        assert caller.client.put(made["uploadUrl"], content=ROWS).is_success
    caller.post(f"/datasets/{finished['datasetId']}/finalize")
    objects = caller.services.objects
    half = objects.local_path(f"{caller.account}/{unsent['datasetId']}/rows.jsonl.0123.part")
    assert half is not None
    half.parent.mkdir(parents=True)
    half.write_bytes(ROWS[:100])

    sweep(caller.services)
    assert half.exists()
    assert caller.get(f"/datasets/{sent['datasetId']}")["status"] == "uploading"

    caller.clock.ahead = int((KEPT.total_seconds() + 60) * 1e9)
    os.utime(half, (0, 0))
    assert sweep(caller.services) >= 2
    assert not half.exists()
    for made in (sent, unsent):
        assert caller.refused("GET", f"/datasets/{made['datasetId']}")[0] == 404
    assert not [key for key in objects.list_keys() if sent["datasetId"] in key]
    assert [row["datasetId"] for row in caller.get("/datasets")["datasets"]] == [finished["datasetId"]]
    assert sweep(caller.services) == 0
