"""Microsoft's Agent Framework, whose own tracing is switched on.

pip install whileai-platform agent-framework-core agent-framework-openai
"""

import asyncio

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from agent_framework import Agent, tool  # noqa: E402
from agent_framework.openai import OpenAIChatClient  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402


async def ask(request: str) -> str:
    desk = Agent(
        OpenAIChatClient(model="gpt-4o-mini"),
        INSTRUCTIONS,
        name="RefundDesk",
        tools=[tool(lookup_order, approval_mode="never_require"), tool(issue_refund, approval_mode="never_require")],
    )
    return (await desk.run(request)).text


with whileai.scenario("refund-042", eval_set="smoke"):
    answer = asyncio.run(ask(PROMPT))
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
