"""smolagents.

pip install whileai-platform 'smolagents[openai]' openinference-instrumentation-smolagents
"""

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402
from smolagents import OpenAIServerModel, ToolCallingAgent, tool  # noqa: E402

model = OpenAIServerModel("gpt-4o-mini")
desk = ToolCallingAgent([tool(lookup_order), tool(issue_refund)], model, instructions=INSTRUCTIONS, verbosity_level=0)

with whileai.scenario("refund-042", eval_set="smoke"):
    answer = desk.run(PROMPT)
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
