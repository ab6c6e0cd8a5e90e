"""Agno.

pip install whileai-platform agno openai openinference-instrumentation-agno
"""

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from agno.agent import Agent  # noqa: E402
from agno.models.openai import OpenAIChat  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402

desk = Agent(model=OpenAIChat(id="gpt-4o-mini"), tools=[lookup_order, issue_refund], instructions=INSTRUCTIONS)

with whileai.scenario("refund-042", eval_set="smoke"):
    answer = desk.run(PROMPT).content
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
