"""pydantic-ai, whose own tracing is switched on.

pip install whileai-platform pydantic-ai
"""

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from pydantic_ai import Agent  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402

desk = Agent("openai-chat:gpt-4o-mini", instructions=INSTRUCTIONS, tools=[lookup_order, issue_refund])

with whileai.scenario("refund-042", eval_set="smoke"):
    answer = desk.run_sync(PROMPT).output
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
