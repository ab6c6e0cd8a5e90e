"""What a span means: the table of dialects, AnyValue, the conversation reader, and `summarise`. Pure, no I/O."""

from whileai_dialects.attributes import Attributes, no_attributes
from whileai_dialects.facts import scenario_of
from whileai_dialects.json_form import json_form
from whileai_dialects.log import LogRecord
from whileai_dialects.rows import row_of
from whileai_dialects.run import Grading, Run, Score, Usage
from whileai_dialects.span import Event, Link, Span, latest
from whileai_dialects.split import holdout_bucket, is_holdout, pass_rule
from whileai_dialects.summarise import summarise
from whileai_dialects.table import FACTS, FLAT_FACTS
from whileai_dialects.value import Value, decode_value, encode_value

__all__ = [
    "FACTS",
    "FLAT_FACTS",
    "Attributes",
    "Event",
    "Grading",
    "Link",
    "LogRecord",
    "Run",
    "Score",
    "Span",
    "Usage",
    "Value",
    "decode_value",
    "encode_value",
    "holdout_bucket",
    "is_holdout",
    "json_form",
    "latest",
    "no_attributes",
    "pass_rule",
    "row_of",
    "scenario_of",
    "summarise",
]
