"""LlamaIndex.

pip install whileai-platform llama-index-core llama-index-llms-openai openinference-instrumentation-llama-index
"""

import asyncio

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from llama_index.core.agent.workflow import FunctionAgent  # noqa: E402
from llama_index.llms.openai import OpenAI  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402


async def ask(request: str) -> str:
    desk = FunctionAgent(
        tools=[lookup_order, issue_refund], llm=OpenAI(model="gpt-4o-mini"), system_prompt=INSTRUCTIONS, streaming=False
    )
    return str(await desk.run(request))


with whileai.scenario("refund-042", eval_set="smoke"):
    answer = asyncio.run(ask(PROMPT))
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
