"""The Anthropic SDK and a loop of your own: `whileai.run` makes the calls of one conversation one run.

pip install whileai-platform anthropic openinference-instrumentation-anthropic
"""

import json

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from anthropic import Anthropic  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, SCHEMAS, TOOLS  # noqa: E402


@whileai.run
def refund_desk(request: str) -> str:
    client = Anthropic()
    messages = [{"role": "user", "content": request}]
    tools = [{"name": name, "description": TOOLS[name].__doc__, "input_schema": SCHEMAS[name]} for name in TOOLS]
    while True:
        said = client.messages.create(
            model="claude-sonnet-4-5", max_tokens=500, system=INSTRUCTIONS, messages=messages, tools=tools
        )
        calls = [block for block in said.content if block.type == "tool_use"]
        if not calls:
            return said.content[0].text
        messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in calls]})
        results = [(call.id, json.dumps(TOOLS[call.name](**call.input))) for call in calls]
        messages.append(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in results],
            }
        )


with whileai.scenario("refund-042", eval_set="smoke"):
    answer = refund_desk(PROMPT)
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
