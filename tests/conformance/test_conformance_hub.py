"""The Hugging Face Hub with both clients, on a local Hub: connect, push, import, and every way to fail."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conformance.conftest import Platform
from support.hub import TOKEN, USER
from support.peers import Peer, PeerError
from support.rows import row, shelf

ROWS = shelf()


def connect(peer: Peer, token: str = TOKEN) -> httpx.Response:
    return httpx.post(f"{peer.url}/hf/me", headers={"x-api-key": peer.key}, json={"token": token}, timeout=60)


@pytest.fixture
def connected(peer: Peer) -> Peer:
    assert connect(peer).json()["connected"] is True
    return peer


def push(peer: Peer, name: str, rows: list[dict[str, Any]] = ROWS, **about: Any) -> str:
    entry = peer("wai.push_rows(rows, name, **about)", rows=rows, name=name, about=about)
    return str(entry["datasetId"])


def test_without_a_connected_account_every_call_says_so_at_once(peer: Peer) -> None:
    made = push(peer, "alone")
    assert peer("wai.hf_status()")["connected"] is False
    before = time.monotonic()
    for call in ("wai.hf_publish(id)", "wai.hf_publish(id, wait=False)", "wai.import_hf('ana/x')"):
        with pytest.raises(PeerError, match="no Hugging Face account is connected"):
            peer(call, id=made)
    assert time.monotonic() - before < 30  # a client that polls would need minutes
    assert len(peer("wai.datasets()")["datasets"]) == 1


def test_a_token_that_the_hub_does_not_know_is_not_kept(peer: Peer) -> None:
    answer = connect(peer, "hf_wrong")
    assert answer.status_code == 400
    assert "token" in answer.json()["error"]
    assert peer("wai.hf_status()")["connected"] is False


def test_a_connected_account_shows_where_it_may_push(connected: Peer) -> None:
    told = connected("wai.hf_status()")
    assert (told["connected"], told["username"], told["namespaces"], told["scopes"]) == (
        True,
        USER,
        ["ana", "acme"],
        ["write"],
    )
    assert TOKEN not in json.dumps(told)
    httpx.delete(f"{connected.url}/hf/me", headers={"x-api-key": connected.key}).raise_for_status()
    assert connected("wai.hf_status()")["connected"] is False


def test_a_push_is_one_tagged_commit_with_its_history(connected: Peer, platform: Platform) -> None:
    repo = f"refunds-{connected.account}"
    made = push(connected, "refunds-v1", mode="rl", agent="Desk", description="Graded refunds.")
    pushed = connected("wai.hf_publish(id, repo=repo, private=True, wait=True, poll=0.2)", id=made, repo=repo)
    hub = platform.hub.repositories[f"{USER}/{repo}"]
    assert hub.private
    assert len(hub.commits) == 2  # making the repository, and the push
    sha, tree = hub.commits[-1]
    assert (pushed["status"], pushed["repo"], pushed["split"], pushed["commit"]) == (
        "done",
        f"{USER}/{repo}",
        "train",
        sha,
    )
    assert hub.tags == {f"zp-{made}": sha}
    assert [json.loads(line) for line in tree["data/train.jsonl"].splitlines()] == ROWS
    history = json.loads(tree["whileai.json"])["splits"]["train"]
    assert (history["datasetId"], history["rows"], history["tag"]) == (made, 12, f"zp-{made}")
    card = tree["README.md"].decode()
    assert "path: data/train.jsonl" in card
    assert "Graded refunds." in card

    held = push(connected, "refunds-held", purpose="holdout")
    newer = push(connected, "refunds-v2", ROWS[:5])
    connected("wai.hf_publish(id, repo=repo, wait=True, poll=0.2)", id=held, repo=repo)
    connected("wai.hf_publish(id, repo=repo, wait=True, poll=0.2)", id=newer, repo=repo)
    assert len(hub.commits) == 4
    splits = json.loads(hub.commits[-1][1]["whileai.json"])["splits"]
    assert [entry["datasetId"] for entry in splits["train"]["history"]] == [newer, made]
    assert splits["holdout"]["datasetId"] == held
    # A tag keeps the rows it was made for.
    pinned = hub.at(f"zp-{made}")
    assert pinned is not None
    assert len(pinned[1]["data/train.jsonl"].splitlines()) == 12
    assert len(hub.commits[-1][1]["data/train.jsonl"].splitlines()) == 5


def test_a_large_push_goes_the_way_of_large_files(connected: Peer, platform: Platform) -> None:
    rows = [row("sc_1", number, 1.0, reason="because " * 100) for number in range(100)]
    repo = f"large-{connected.account}"
    connected("wai.hf_publish(id, namespace='acme', repo=repo, poll=0.2)", id=push(connected, "big", rows), repo=repo)
    tree = platform.hub.repositories[f"acme/{repo}"].commits[-1][1]
    assert len(tree["data/train.jsonl"].splitlines()) == 100
    assert tree["data/train.jsonl"] in platform.hub.large.values()


def test_a_push_that_the_hub_refuses_says_why_and_can_be_run_again(connected: Peer, platform: Platform) -> None:
    made, repo = push(connected, "refused"), f"refused-{connected.account}"
    platform.hub.broken = True
    try:
        with pytest.raises(PeerError, match="token may not"):
            connected("wai.hf_publish(id, repo=repo, poll=0.2)", id=made, repo=repo)
    finally:
        platform.hub.broken = False
    assert connected("wai.hf_publish(id, repo=repo, poll=0.2)", id=made, repo=repo)["status"] == "done"


def test_a_push_can_be_left_to_itself(connected: Peer, platform: Platform) -> None:
    made = push(connected, f"quiet {connected.account}")
    told = connected("wai.hf_publish(id, wait=False)", id=made)
    assert told["status"] in ("pushing", "done")
    assert told["repo"] == f"{USER}/quiet-{connected.account}"
    while platform.get(f"/datasets/{made}", connected.key)["hf"]["status"] == "pushing":
        time.sleep(0.1)
    assert platform.get(f"/datasets/{made}", connected.key)["hf"]["status"] == "done"


def parquet(rows: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def arrow(rows: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return file.getvalue()


QUESTIONS = [{"prompt": f"question {number}", "answer": f"answer {number}", "score": number / 4} for number in range(8)]
CSV = "prompt,answer,score\n" + "".join(f"{row['prompt']},{row['answer']},{row['score']}\n" for row in QUESTIONS)
LINES = "".join(json.dumps(row) + "\n" for row in QUESTIONS)
FORMATS = {
    "parquet": ("data/train-00000-of-00001.parquet", parquet(QUESTIONS)),
    "arrow": ("train/data-00000-of-00001.arrow", arrow(QUESTIONS)),
    "json lines": ("train.jsonl", LINES.encode()),
    "json": ("train.json", json.dumps(QUESTIONS).encode()),
    "csv": ("train.csv", CSV.encode()),
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_split_is_imported_whatever_its_files_are(connected: Peer, platform: Platform, form: str) -> None:
    repo = f"somebody/{form.replace(' ', '-')}-{connected.account}"
    path, content = FORMATS[form]
    platform.hub.publish(repo, {path: content, "README.md": b"# questions", "test.jsonl": b'{"prompt": "other"}\n'})
    made = connected("wai.import_hf(repo, purpose='eval', poll=0.2)", repo=repo)
    assert (made["status"], made["purpose"], made["rows"]) == ("ready", "eval", 8)
    assert connected("wai.pull(id)", id=made["datasetId"]) == QUESTIONS
    assert connected("wai.profile(id)", id=made["datasetId"])["rows"] == 8


def test_the_card_says_which_files_hold_a_split(connected: Peer, platform: Platform) -> None:
    repo = f"somebody/card-{connected.account}"
    card = (
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: plain/*.jsonl\n"
        "- config_name: hard\n  data_files:\n  - split: dev\n    path:\n    - a.jsonl\n    - b.jsonl\n---\n# words\n"
    )
    files = {
        "plain/1.jsonl": b'{"n": 1}\n',
        "plain/2.jsonl": b'{"n": 2}\n',
        "a.jsonl": b'{"n": 3}',
        "b.jsonl": b'{"n": 4}',
    }
    platform.hub.publish(repo, {**files, "README.md": card.encode()}, private=True)
    plain = connected("wai.import_hf(repo, poll=0.2)", repo=repo)
    assert connected("wai.pull(id)", id=plain["datasetId"]) == [{"n": 1}, {"n": 2}]
    hard = connected("wai.import_hf(repo, config='hard', split='dev', max_rows=1, poll=0.2)", repo=repo)
    assert connected("wai.pull(id)", id=hard["datasetId"]) == [{"n": 3}]
    with pytest.raises(PeerError, match="there are dev"):
        connected("wai.import_hf(repo, config='hard', split='train', poll=0.2)", repo=repo)


def test_what_was_pushed_can_be_imported_at_its_tag(connected: Peer) -> None:
    made, repo = push(connected, "there and back"), f"back-{connected.account}"
    connected("wai.hf_publish(id, repo=repo, poll=0.2)", id=made, repo=repo)
    again = connected("wai.import_hf(repo, revision=tag, poll=0.2)", repo=f"{USER}/{repo}", tag=f"zp-{made}")
    assert connected("wai.pull(id)", id=again["datasetId"]) == ROWS


def test_an_import_that_cannot_be_is_failed_with_its_reason(connected: Peer, platform: Platform) -> None:
    with pytest.raises(PeerError, match="no such dataset"):
        connected("wai.import_hf('nobody/nothing', poll=0.2)")
    repo = f"somebody/broken-{connected.account}"
    platform.hub.publish(repo, {"train.jsonl": b'{"a": 1}\n{"a": \n'})
    with pytest.raises(PeerError, match=r"train\.jsonl"):
        connected("wai.import_hf(repo, poll=0.2)", repo=repo)
    assert {row["status"] for row in connected("wai.datasets()")["datasets"]} == {"failed"}
    failed = connected("wai.datasets()")["datasets"][0]["datasetId"]
    platform.hub.publish(repo, {"train.jsonl": b'{"a": 1}\n'})
    headers = {"x-api-key": connected.key}
    httpx.post(f"{connected.url}/datasets/{failed}/retry-import", headers=headers).raise_for_status()
    while platform.get(f"/datasets/{failed}", connected.key)["status"] == "importing":
        time.sleep(0.1)
    assert connected("wai.pull(id)", id=failed) == [{"a": 1}]
