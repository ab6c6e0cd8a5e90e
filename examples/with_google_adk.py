"""Google's Agent Development Kit, which speaks as soon as a tracer provider is set.

pip install whileai-platform google-adk litellm
"""

import asyncio

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.models.lite_llm import LiteLlm  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, issue_refund, lookup_order  # noqa: E402

desk = LlmAgent(
    name="refund_desk",
    model=LiteLlm("openai/gpt-4o-mini"),
    instruction=INSTRUCTIONS,
    tools=[lookup_order, issue_refund],
)


async def ask(request: str) -> str:
    runner = InMemoryRunner(desk, app_name="shop")
    session = await runner.session_service.create_session(app_name="shop", user_id="customer")
    said = types.Content(role="user", parts=[types.Part(text=request)])
    answer = ""
    async for event in runner.run_async(user_id="customer", session_id=session.id, new_message=said):
        if event.is_final_response():
            answer = event.content.parts[0].text
    return answer


with whileai.scenario("refund-042", eval_set="smoke"):
    answer = asyncio.run(ask(PROMPT))
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
