"""The shop's two tools, which every example's agent is given."""

from typing import Any

INSTRUCTIONS = "You are the refund desk of a small shop. Look an order up before you pay anything back."
PROMPT = "Please refund order A-1001"


def lookup_order(order_id: str) -> dict[str, Any]:
    """What the shop knows about an order.

    Args:
        order_id: The number on the receipt.
    """
    return {"order_id": order_id, "total": 25.5, "status": "delivered"}


def issue_refund(order_id: str, amount: float) -> dict[str, Any]:
    """Pay money back to the customer's card.

    Args:
        order_id: The number on the receipt.
        amount: How much to pay back.
    """
    return {"refunded": amount, "order_id": order_id}


def schema(**properties: str) -> dict[str, Any]:
    """A tool's parameters as JSON Schema."""
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }


TOOLS = {"lookup_order": lookup_order, "issue_refund": issue_refund}
SCHEMAS = {
    "lookup_order": schema(order_id="string"),
    "issue_refund": schema(order_id="string", amount="number"),
}
