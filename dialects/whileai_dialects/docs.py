"""Prints `docs/dialects.md` from the table: `python -m whileai_dialects.docs > docs/dialects.md`."""

import sys

from whileai_dialects.fact import Fact
from whileai_dialects.table import CONTENT, FACTS

_HEAD = """# Where each fact of a run comes from

This page is printed from the table in `dialects/whileai_dialects/table.py` (`python -m whileai_dialects.docs`); the
tests compare the two. For each fact the attribute keys are listed best first: the first one that a span carries tells
the fact. A key that ends in a dot is a flattened list (`llm.input_messages.3.message.role`); its indexes are numbers,
so 10 comes after 9.

Messages are also told as events, as log records or on the span: `gen_ai.system.message`, `gen_ai.user.message`,
`gen_ai.assistant.message`, `gen_ai.tool.message`, `gen_ai.choice`, `gen_ai.client.inference.operation.details`, and
the older `gen_ai.content.prompt` and `gen_ai.content.completion`. They come after `gen_ai.input.messages` and
`gen_ai.output.messages`, and before every other source.
"""

# What no single attribute tells.
_RULES: tuple[tuple[str, str], ...] = (
    ("agent", "The outermost agent's span that an attribute names, else that its span name names; else a workflow."),
    ("", "Without those, a mention on any span; last, the application's function id."),
    ("prompt", "The first user turn of the main conversation, in the caller's words where a template was put around."),
    ("final answer", "The last assistant text of the outermost span that has one, else the text that ends the talk."),
    (
        "steps",
        "What the model asked for, paired with the tool spans by call id, by name and arguments, by name and order.",
    ),
    ("", "Tools that nobody asked for stand at their time."),
    ("status", "An error when a top span, the main agent or a span above it failed, or the last model call did."),
    ("", "A failed tool alone is no error of the run."),
    ("tokens, cost", "The sum over distinct model calls; a call inside a call is the same call."),
    ("", "A second instrumentation's copy is known by response id, else by parent, model and overlap in time."),
)


def page() -> str:
    """The whole page."""
    parts = [_HEAD, "## Facts of a span\n", *map(_section, FACTS), "## The talk\n", *map(_section, CONTENT)]
    rules = "".join(f"| {fact} | {rule} |\n" for fact, rule in _RULES)
    return "\n".join([*parts, f"## What the tree decides\n\n| fact | rule |\n|---|---|\n{rules}"])


def _section(fact: Fact) -> str:
    rows = "\n".join(f"| {place} | `{source.key}` | {source.flavour} |" for place, source in enumerate(fact.sources, 1))
    meaning = f"{fact.meaning[0].upper()}{fact.meaning[1:]}."
    return f"### {fact.name}\n\n{meaning}\n\n| | attribute | flavour |\n|---|---|---|\n{rows}\n"


if __name__ == "__main__":
    sys.stdout.write(page())
