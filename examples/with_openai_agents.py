"""The OpenAI Agents SDK.

pip install whileai-platform openai-agents openinference-instrumentation-openai-agents
"""

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from agents import Agent, Runner, function_tool  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402

desk = Agent(
    name="Refund desk",
    model="gpt-4o-mini",
    instructions=INSTRUCTIONS,
    tools=[function_tool(lookup_order), function_tool(issue_refund)],
)

with whileai.scenario("refund-042", eval_set="smoke"):
    answer = Runner.run_sync(desk, PROMPT).final_output
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
