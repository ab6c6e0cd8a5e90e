"""Strands Agents, which speaks as soon as a tracer provider is set.

pip install whileai-platform 'strands-agents[openai]'
"""

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402
from strands import Agent, tool  # noqa: E402
from strands.models.openai import OpenAIModel  # noqa: E402

desk = Agent(
    model=OpenAIModel(model_id="gpt-4o-mini"),
    system_prompt=INSTRUCTIONS,
    tools=[tool(lookup_order), tool(issue_refund)],
    callback_handler=None,
)

with whileai.scenario("refund-042", eval_set="smoke"):
    answer = str(desk(PROMPT)).strip()
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
