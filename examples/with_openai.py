"""The OpenAI SDK and a loop of your own: `whileai.run` makes the calls of one conversation one run.

pip install whileai-platform openai openinference-instrumentation-openai
"""

import json

import whileai

whileai.instrument(agent="refund-bot", version="v1")

from openai import OpenAI  # noqa: E402
from shop import INSTRUCTIONS, PROMPT, SCHEMAS, TOOLS  # noqa: E402


@whileai.run
def refund_desk(request: str) -> str:
    client = OpenAI()
    messages = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": request}]
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMAS[name]}} for name in TOOLS]
    while True:
        said = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=tools).choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        if not said.tool_calls:
            return said.content
        for call in said.tool_calls:
            result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


with whileai.scenario("refund-042", eval_set="smoke"):
    answer = refund_desk(PROMPT)
    whileai.reward("25.50" in answer)
    print(whileai.current_trace_id(), answer)
