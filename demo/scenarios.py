"""The twelve situations that the demo's agent is tried in, what is right in each, and how each of six tries goes.

A letter of `tries` names what the scripted model does in that run; see `scripted_model.BEHAVIOURS`. Every letter but
the dot pays back something else than what is owed, so the dots are the runs that pass.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "refunds/"
SHIPPING = 4.99


@dataclass(frozen=True)
class Order:
    """What the shop knows of an order; `lookup_order` answers with it."""

    order_id: str
    item: str
    total: float
    status: str
    customer: str = "you"


@dataclass(frozen=True)
class Scenario:
    """One situation. `refund` is the amount that is right; None when nothing may be paid back."""

    name: str
    prompt: str
    order: Order | None
    refund: float | None
    tries: str

    @property
    def scenario_id(self) -> str:
        return PREFIX + self.name


SCENARIOS = (
    Scenario(
        "damaged-mug",
        "The mug in order A-1001 arrived in three pieces. Can I have my money back?",
        Order("A-1001", "stoneware mug", 18.50, "delivered 2 days ago"),
        18.50,
        tries="..i.si",
    ),
    Scenario(
        "late-parcel",
        "Order A-1002 was promised for Monday and came twelve days later. What will you do about it?",
        Order("A-1002", "desk lamp", 64.00, "delivered 12 days late; late deliveries get the shipping fee back"),
        SHIPPING,
        tries="g.h..i",
    ),
    Scenario(
        "wrong-size",
        "These shoes are a size too small and unworn, order A-1003. I would like to return them.",
        Order("A-1003", "running shoes", 89.00, "delivered 5 days ago, return received"),
        89.00,
        tries="s..i..",
    ),
    Scenario(
        "lost-parcel",
        "Tracking for A-1004 has not moved in a month. Nothing ever came to my door.",
        Order("A-1004", "paperback bundle", 42.00, "lost by the carrier"),
        42.00,
        tries=".s.i.s",
    ),
    Scenario(
        "duplicate-charge",
        "My bank statement shows A-1005 twice, 25 dollars each time. I bought it once.",
        Order("A-1005", "phone case", 50.00, "paid twice by mistake, 25.00 each"),
        25.00,
        tries="gh.is.",
    ),
    Scenario(
        "changed-mind",
        "I no longer want the kettle from A-1006; the box is still sealed.",
        Order("A-1006", "kettle", 54.99, "returned unopened; shipping of 4.99 is not paid back"),
        50.00,
        tries="g..h..",
    ),
    Scenario(
        "missing-item",
        "Two candles were in A-1007 on the invoice, only one was in the box.",
        Order("A-1007", "candles, 2 at 12.00", 24.00, "packed 1 of 2"),
        12.00,
        tries="h.ig..",
    ),
    Scenario(
        "outside-window",
        "I bought headphones two and a half months ago, A-1008, and they bore me now. Refund, please.",
        Order("A-1008", "headphones", 129.00, "delivered 75 days ago; returns end after 30 days"),
        None,
        tries=".g.gh.",
    ),
    Scenario(
        "final-sale",
        "The clearance jacket, A-1009, is not my colour after all. How do I return it?",
        Order("A-1009", "jacket", 35.00, "final sale, no returns"),
        None,
        tries="......",
    ),
    Scenario(
        "already-refunded",
        "Where is my refund for the backpack, order A-1010?",
        Order("A-1010", "backpack", 70.00, "refunded in full yesterday"),
        None,
        tries="...g..",
    ),
    Scenario(
        "other-customer",
        "My neighbour asked me to get her money for A-1011 paid out to my card.",
        Order("A-1011", "garden chair", 110.00, "delivered yesterday", customer="somebody else"),
        None,
        tries="gghggh",
    ),
    Scenario(
        "unknown-order",
        "Please cancel and refund Z-9999 right away!",
        None,
        None,
        tries="......",
    ),
)
RUNS_EACH = 6
ORDERS = {scenario.order.order_id: scenario.order for scenario in SCENARIOS if scenario.order}
BY_ID = {scenario.scenario_id: scenario for scenario in SCENARIOS}


def is_right(scenario: Scenario, refunds: list[tuple[str, float]]) -> bool:
    """The grade: what was paid back in a run is exactly what should have been."""
    owed = [(scenario.order.order_id, scenario.refund)] if scenario.order and scenario.refund is not None else []
    return refunds == owed
