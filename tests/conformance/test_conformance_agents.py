"""Agents with both clients: they come into being by being named, and one row serves every caller."""

from __future__ import annotations

from support.peers import Peer
from support.rows import shelf

TOOLS = [{"type": "function", "function": {"name": "track", "description": "Find a parcel", "parameters": {}}}]


def test_a_registered_agent_is_listed_with_its_counts(peer: Peer) -> None:
    made = peer(
        "wai.register_agent('Air Support', description='Rebooking', tools=tools, system_prompt='Be kind.')", tools=TOOLS
    )
    assert (made["id"], made["name"]) == ("Air-Support", "Air Support")
    (row,) = peer("wai.agents()")
    assert (row["id"], row["name"], row["description"]) == ("Air-Support", "Air Support", "Rebooking")
    assert (row["tools"], row["systemPrompt"]) == (TOOLS, "Be kind.")
    assert (row["traces"], row["publicCards"]) == (0, 0)
    assert row["datasets"] == {"train": 0, "holdout": 0, "eval": 0}


def test_registering_again_merges_and_keeps_what_is_not_said(peer: Peer) -> None:
    peer("wai.register_agent('Desk', description='first')")
    peer("wai.register_agent('DESK', tools=tools)", tools=TOOLS)
    (row,) = peer("wai.agents()")
    assert (row["name"], row["description"], row["tools"]) == ("Desk", "first", TOOLS)


def test_pushes_traces_and_cards_of_one_agent_meet_in_one_row(peer: Peer) -> None:
    entry = peer("wai.push_rows(rows, 'a', agent='Refund Desk')", rows=shelf())
    peer("wai.push_rows(rows, 'b', agent='refund desk', purpose='eval')", rows=shelf())
    peer("whileai.send_runs([dict(prompt='hello', final_text='hi', reward=1.0)], agent='Refund Desk')")
    peer("wai.publish(id, agent='Refund Desk')", id=entry["datasetId"])
    (row,) = peer("wai.agents()")
    assert (row["traces"], row["publicCards"]) == (1, 1)
    assert row["datasets"] == {"train": 1, "holdout": 0, "eval": 1}


def test_another_account_may_use_the_same_name(peer: Peer, stranger: Peer) -> None:
    peer("wai.register_agent('Desk', description='mine')")
    assert stranger("wai.agents()") == []
    stranger("wai.register_agent('Desk', description='theirs')")
    assert [row["description"] for row in peer("wai.agents()")] == ["mine"]


def test_the_command_lists_them(peer: Peer) -> None:
    peer("wai.register_agent('Desk')")
    done = peer.command("agents", "--json")
    assert done.returncode == 0, done.stderr
    assert '"Desk"' in done.stdout
