"""Measurements of a run: what its spans and records tell inline, and which grading of a name stands.

The latest grading wins, whatever order things arrive in: a call is graded at its arrival, a span or event at the
earlier of its end and its first arrival, so that neither a resend nor a clock in the future undoes a correction.
"""

from collections.abc import Iterable, Sequence

from whileai_dialects.attributes import Attributes
from whileai_dialects.log import LogRecord
from whileai_dialects.reading import number_of
from whileai_dialects.run import Grading, Score, Source
from whileai_dialects.span import Span

VERDICT = "score"
_REWARD, _SCORE = _INLINE = ("whileai.reward", "zeroproof.score")
_RESULT = "gen_ai.evaluation.result"
_RANK: dict[Source, int] = {"attribute": 0, "event": 1, "call": 2}


def inline_gradings(spans: Iterable[Span], logs: Iterable[LogRecord]) -> list[Grading]:
    """The measurements that spans, span events and log records carry."""
    found: list[Grading] = []
    for span in spans:
        raw = span.attributes.raw
        if _REWARD in raw or _SCORE in raw:
            found += _on_span(span)
        for event in span.events:
            if event.name == _RESULT:
                found += _result(event.attributes, span.span_id, _at(event.time or span.end, span), span.version)
    for log in logs:
        if log.event_name == _RESULT:
            graded_at = min(log.when, log.version) if log.version else log.when
            found += _result(log.attributes, log.span_id, graded_at, log.version)
    return found


def standing(gradings: Iterable[Grading]) -> list[Score]:
    """For each name the grading that stands, and the earlier ones, latest first; the verdict comes first."""
    by_name: dict[str, list[Grading]] = {}
    for grading in gradings:
        by_name.setdefault(grading.name, []).append(grading)
    scores: list[Score] = []
    for name, given in by_name.items():
        ordered = sorted(given, key=_precedence, reverse=True) if len(given) > 1 else given
        best = ordered[0]
        scores.append(
            Score(
                name, best.value, best.label, best.pass_at, best.source, best.graded_at, tuple(ordered[1:]), best.extra
            )
        )
    if len(scores) > 1:
        scores.sort(key=lambda score: (score.name != VERDICT, score.name))
    return scores


def verdict_score(scores: Sequence[Score]) -> Score | None:
    """The measurement that is the verdict."""
    return next((score for score in scores if score.name == VERDICT), None)


def _precedence(grading: Grading) -> tuple[int, int, int, str]:
    return (grading.graded_at, _RANK[grading.source], grading.version, grading.span_id)


def _at(time: int, span: Span) -> int:
    """When something on a span was graded."""
    if not span.first_arrival:
        return time
    return min(time, span.first_arrival) if time else span.first_arrival


def _on_span(span: Span) -> list[Grading]:
    raw = span.attributes.raw
    found: list[Grading] = []
    for key in _INLINE:
        if key in raw:
            value = _score(span.attributes[key])
            if value is not None:
                bar = _score(span.attributes.get("zeroproof.score.pass_at")) if key == "zeroproof.score" else None
                found.append(
                    Grading(VERDICT, value, None, bar, "attribute", span.span_id, _at(span.end, span), span.version)
                )
                break  # one measurement by name, source and span: the first key that tells it
    return found


def _result(attributes: Attributes, span_id: str, graded_at: int, version: int) -> list[Grading]:
    name = attributes.get("gen_ai.evaluation.name")
    value = _score(attributes.get("gen_ai.evaluation.score.value"))
    label = attributes.get("gen_ai.evaluation.score.label")
    label = label if isinstance(label, str) and label else None
    if not isinstance(name, str) or not name or (value is None and label is None):
        return []
    explanation = attributes.get("gen_ai.evaluation.explanation")
    extra = {"explanation": explanation} if isinstance(explanation, str) else {}
    return [Grading(name, value, label, None, "event", span_id, graded_at, version, extra)]


def _score(value: object) -> float | None:
    """A measured value: true and false are 1 and 0, text is none."""
    if isinstance(value, bool):
        return float(value)
    return number_of(value) if not isinstance(value, str) else None
