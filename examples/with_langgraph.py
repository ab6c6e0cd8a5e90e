"""LangGraph, through LangChain's callbacks.

pip install whileai-platform langchain langgraph langchain-openai openinference-instrumentation-langchain
"""

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from langchain.agents import create_agent  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402

desk = create_agent(ChatOpenAI(model="gpt-4o-mini"), [lookup_order, issue_refund], system_prompt=INSTRUCTIONS)

with whileai.scenario("refund-042", eval_set="smoke"):
    answer = desk.invoke({"messages": [{"role": "user", "content": PROMPT}]})["messages"][-1].content
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
