"""Grading runs that already ran: measurements by trace id, singly or many at once."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from whileai import service
from whileai.errors import PlatformError

SCORES_PER_REQUEST = 10_000  # keeps a request of a large regrading in the low megabytes


def send_score(
    trace_id: str | None = None,
    value: float | bool | None = None,
    *,
    name: str = "score",
    scores: Sequence[Mapping[str, Any]] | None = None,
    api_key: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Say how a run went. The measurement named `score` is the verdict: a value of 1.0, or of `pass_at=`, is a pass.

    Sending the same name again is a correction. `scores=` sends many: each with `value`, perhaps `name`, `label`,
    `pass_at`, and its own `trace_id` unless one is given for all. The answer says what was `applied`, what is
    `pending` (kept until its trace arrives), `unknown` and `rejected`; when nothing was kept at all it is an error.
    """
    if scores is None:
        run = {"traceId": _required(trace_id)}
        return _send({**run, **_measurement({"value": value, **fields}, name, trace_id)}, api_key)
    items = [_measurement(item, name, trace_id) for item in scores]
    if not items:
        raise PlatformError("scores= is empty; give at least one measurement")
    shared = {"traceId": trace_id} if trace_id else {}
    parts = [items[at : at + SCORES_PER_REQUEST] for at in range(0, len(items), SCORES_PER_REQUEST)]
    return _together([_send({**shared, "scores": part}, api_key) for part in parts])


def _send(body: Mapping[str, Any], api_key: str | None) -> dict[str, Any]:
    _flush_own_spans()
    # The same measurement sent twice is one measurement, so a lost answer may be asked for again.
    answer = service.api("POST", "/v1/scores", api_key=api_key, json=body, idempotent=True)
    if not answer.get("applied") and not answer.get("pending"):
        raise PlatformError(_nothing_applied(answer))
    return answer


def _flush_own_spans() -> None:
    """Where the run was made in this process, its spans go first: a grade must find its run."""
    recording = sys.modules.get("whileai_instrumentation")
    if recording is not None:
        recording.flush()


def _measurement(item: Mapping[str, Any], name: str, trace_id: str | None) -> dict[str, Any]:
    fields = {**item}
    own = fields.pop("trace_id", None) or fields.pop("traceId", None)
    fields["name"] = fields.get("name") or name
    value = fields.pop("value", None)
    if value is not None:
        fields["value"] = float(value) if isinstance(value, bool) else value
    elif fields.get("label") is None:
        raise PlatformError(f"measurement {fields['name']!r} has no value; give value=, or label= when it is a word")
    if own is not None:
        fields["traceId"] = own
    elif trace_id is None:
        _required(None)
    return fields


def _required(trace_id: str | None) -> str:
    if not trace_id:
        raise PlatformError("which run is graded? give its trace id, first or as trace_id in every item of scores=")
    return trace_id


def _nothing_applied(answer: Mapping[str, Any]) -> str:
    rejected = answer.get("rejected") or []
    if rejected:
        first = rejected[0]
        reason = first.get("error", first) if isinstance(first, Mapping) else first
        return f"no score was taken: {reason} ({len(rejected)} rejected)"
    unknown = [str(trace_id) for trace_id in answer.get("unknown") or []]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        return f"no score was taken: this account has no run {', '.join(unknown[:3])}{more}; check the trace ids"
    return "no score was taken, and the service gave no reason"


def _together(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if len(answers) == 1:
        return answers[0]
    lists = ("unknown", "pending", "rejected")
    return {
        "applied": sum(answer.get("applied") or 0 for answer in answers),
        **{name: [item for answer in answers for item in answer.get(name) or []] for name in lists},
    }
