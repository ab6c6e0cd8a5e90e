"""The flat facts of a span for SQL, made from the one table of dialects: the view `span_facts`, a row per span.

    SELECT model, sum(input_tokens) FROM span_facts WHERE account = 'acc_local' AND operation = 'chat' GROUP BY model

A view costs nothing until it is asked, and a new row in the table of dialects holds for old spans too. (As columns of
`spans` they were tried: stored, each costs every insert; as aliases, every query resolves them all, 50 ms.)
What depends on the tree of spans is not here: `summarise` decides it, and `runs` holds it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from whileai_dialects import FACTS, FLAT_FACTS
from whileai_ingest.store import Store

VIEW = "span_facts"

# AnyValue on the wire is one field: its tag, then for text a length of one to four bytes and the bytes, for a bool or
# an integer a varint, for a double eight bytes. Anything else (arrays, maps, bytes) is no flat fact.
_VARINT = """reinterpretAsInt64(arraySum(
        (byte, at) -> bitShiftLeft(toUInt64(bitAnd(reinterpretAsUInt8(byte), 127)), 7 * (at - 1)),
        splitByString('', substring(raw, 2)), range(1, toUInt64(length(raw)))))"""
_AS_TEXT = f"""multiIf(
    startsWith(raw, '\\n'),
    substring(raw, multiIf(length(raw) < 130, 3, length(raw) < 16387, 4, length(raw) < 2097156, 5, 6)),
    startsWith(raw, '\\x18'), toString({_VARINT}),
    startsWith(raw, '\\x10'), if(endsWith(raw, '\\x01'), 'true', 'false'),
    startsWith(raw, '!'), toString(reinterpretAsFloat64(substring(raw, 2))),
    '')"""
# MLflow writes its values as JSON, with the quotes.
_UNQUOTED = f"replaceRegexpOne({_AS_TEXT}, '^\"(.*)\"$', '\\\\1')"

_SHAPES = {"text": "{}", "content": "{}", "count": "toInt64OrNull({})", "number": "toFloat64OrNull({})"}
_KINDS = {fact.name: fact.kind for fact in FACTS}


def expression(keys: Sequence[str]) -> str:
    """SQL for the first of these attributes that has a value, as text."""
    raws = ", ".join(f"attributes['{key}']" for key in keys)
    return f"arrayFirst(text -> text != '', arrayMap(raw -> {_UNQUOTED}, [{raws}]))"


def ensure_fact_view(store: Store) -> None:
    """Make the view tell what the table of dialects tells now; when it does already, nothing is changed."""
    select = view_query()
    stamp = f"from the table of dialects, {hashlib.sha256(select.encode()).hexdigest()[:16]}"
    there = store.query(
        "SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = {name:String}", {"name": VIEW}
    )
    if there != [(stamp,)]:
        on_cluster = f"ON CLUSTER '{store.options.cluster}'" if store.options.cluster else ""
        store.command(f"CREATE OR REPLACE VIEW {VIEW} {on_cluster} AS {select} COMMENT '{stamp}'")


def view_query() -> str:
    """The SELECT of the view: of a span that came more than once, the latest copy."""
    facts = ",\n    ".join(
        f"{_SHAPES[_KINDS[name]].format(expression(keys))} AS {name}" for name, keys in FLAT_FACTS.items()
    )
    return f"""
SELECT account, trace_id, span_id, parent_span_id, name, start_time_unix_nano, end_time_unix_nano,
    fromUnixTimestamp64Nano(toInt64(arrived), 'UTC') AS arrived_at,
    {facts}
FROM (SELECT *, version AS arrived FROM spans ORDER BY version DESC LIMIT 1 BY account, trace_id, span_id)
"""
