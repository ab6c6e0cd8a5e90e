"""An agent is one row, whatever the case of its name and whichever client speaks of it."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_registry import InvalidInput, Registry, agent_key, agent_slug


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Refund Bot!", "Refund-Bot"),
        ("support.bot_v2", "support.bot_v2"),
        ("--x--", "x"),
        ("???", "agent"),
        ("客服", "客服"),
        ("a" * 80, "a" * 64),
    ],
)
def test_a_slug_is_what_the_published_client_makes_of_a_name(name: str, slug: str) -> None:
    assert agent_slug(name) == slug


@given(st.text(alphabet=st.characters(codec="latin-1"), max_size=60))
def test_a_name_its_slug_and_its_lower_case_are_one_identity(name: str) -> None:
    assert agent_key(name) == agent_key(agent_slug(name)) == agent_key(name.lower())


def test_both_sides_of_an_agent_are_one_row(registry: Registry, account: str) -> None:
    registry.agents.ensure(account, ["Refund Bot!"])
    registry.agents.register(account, "refund bot!", description="gives money back", tools=[{"name": "refund"}])
    tracked = registry.agents.register(
        account, "REFUND BOT!", agent_id="Refund-Bot", model="m-1", harness={"label": "h"}, frontier={"name": "f"}
    )
    assert registry.agents.list_page(account).items == [tracked]
    assert tracked.name == "Refund Bot!"
    assert tracked.id == "Refund-Bot"
    assert tracked.description == "gives money back"
    assert tracked.tools == [{"name": "refund"}]
    assert tracked.harness == {"label": "h"}
    assert tracked.frontier == {"name": "f"}


def test_what_is_not_said_stays_and_what_is_said_replaces(registry: Registry, account: str) -> None:
    registry.agents.register(account, "bot", description="old", system_prompt="be kind", tools=[{"name": "a"}])
    merged = registry.agents.register(account, "Bot", description="new", tools=[])
    assert (merged.description, merged.system_prompt, merged.tools) == ("new", "be kind", [])


def test_an_agent_is_found_in_any_case_and_gone_after_its_deletion(registry: Registry, account: str) -> None:
    made = registry.agents.register(account, "Refund Bot!")
    assert registry.agents.get(account, "refund bot!") == registry.agents.get(account, "Refund-Bot") == made
    assert registry.agents.delete(account, "REFUND-BOT")
    assert registry.agents.get(account, "Refund Bot!") is None
    assert not registry.agents.delete(account, "REFUND-BOT")


def test_ensuring_known_agents_leaves_them_alone(registry: Registry, account: str) -> None:
    made = registry.agents.register(account, "Bot", description="d")
    registry.agents.ensure(account, ["bot", "BOT", " ", "Other"])
    assert registry.agents.get(account, "bot") == made
    assert [agent.key for agent in registry.agents.list_page(account).items] == ["bot", "other"]


def test_a_name_without_a_letter_to_it_is_refused(registry: Registry, account: str) -> None:
    with pytest.raises(InvalidInput, match="name of an agent"):
        registry.agents.register(account, "  ")


def test_strange_text_is_kept_on_both_databases(registry: Registry, account: str) -> None:
    made = registry.agents.register(
        account, "b\x00t \ud800", description="nul \x00 é 客", tools=[{"name": "\x00", "big": 2**60, "é": [None, 1.5]}]
    )
    assert made.description == "nul \ufffd é 客"
    assert made.tools == [{"name": "\x00", "big": 2**60, "é": [None, 1.5]}]
    assert registry.agents.get(account, "b\x00t \ud800") == made


def test_the_list_pages_without_a_gap_or_a_repeat(registry: Registry, account: str) -> None:
    registry.agents.ensure(account, [f"agent {number:02}" for number in range(7)])
    seen: list[str] = []
    cursor: str | None = None
    for expected in (3, 3, 1):
        page = registry.agents.list_page(account, limit=3, cursor=cursor)
        assert len(page.items) == expected
        seen += [agent.key for agent in page.items]
        cursor = page.next
    assert cursor is None
    assert seen == [f"agent-{number:02}" for number in range(7)]


def test_many_threads_that_bring_the_same_agents_make_each_once(registry: Registry, account: str) -> None:
    names = [f"agent {number}" for number in range(20)]
    errors: list[BaseException] = []

    def bring(order: list[str]) -> None:
        try:
            for _ in range(3):
                registry.agents.ensure(account, order)
                registry.agents.register(account, order[0], description="x")
        except BaseException as exc:
            errors.append(exc)

    threads = [threading.Thread(target=bring, args=(names[k:] + names[:k],)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(registry.agents.list_page(account).items) == 20
