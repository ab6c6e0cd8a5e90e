"""The plain facts of a run: service, model, provider, version, scenario, eval set, conversation, dataset."""

from collections.abc import Iterable, Mapping, Sequence

from whileai_dialects.attributes import Attributes
from whileai_dialects.calls import ModelCall
from whileai_dialects.content import content_of
from whileai_dialects.jsontext import parse_container, structured
from whileai_dialects.message import Content
from whileai_dialects.providers import vendor_of
from whileai_dialects.reading import Found, Reading, scan, text_of_fact
from whileai_dialects.run import Run
from whileai_dialects.table import FACT
from whileai_dialects.tree import Tree
from whileai_dialects.value import Value

_DATASETS = ("zeroproof.dataset", "whileai.dataset")
_KEYS = {name: row.keys for name, row in FACT.items()}
# Facts that any span may tell of the whole run.
_ON_ANY = frozenset(("version", "scenario", "eval_set", "conversation", "metadata"))
_FRAMES = frozenset(("agent", "workflow", "chain"))
_SESSIONS = ("thread_id", "session_id", "conversation_id")


def read_facts(run: Run, tree: Tree, readings: Mapping[str, Reading], calls: Sequence[ModelCall]) -> None:
    """Fill in the facts that need no conversation."""
    ordered = [readings[span.span_id] for span in tree.downward]
    resource = tree.downward[0].resource
    on_resource = scan(resource.raw)
    run.service = text_of_fact(resource.get("service.name")) or None
    for key in reversed(_DATASETS):
        if key in resource.raw:
            run.dataset = text_of_fact(resource[key]) or run.dataset
    chats = [call for call in calls if call.readings[0].kind != "embedding"] or calls
    run.model = _model(ordered, chats)
    run.provider = _provider(ordered, chats)
    telling = [reading for reading in ordered if not reading.found.keys().isdisjoint(_ON_ANY)]
    run.model_version = _told(telling, on_resource, resource, "version")
    run.scenario_id = _told(telling, on_resource, resource, "scenario")
    run.eval_set = _told(telling, on_resource, resource, "eval_set")
    run.conversation_id = _told(telling, on_resource, resource, "conversation")
    if run.conversation_id is None:
        run.conversation_id = _first(_session(reading) for reading in telling if "metadata" in reading.found)


def _model(ordered: Sequence[Reading], chats: Sequence[ModelCall]) -> str | None:
    """The model that was asked for, else the one that answered, else the one that a frame or an answer names."""
    for call in chats:
        asked = _asked_model(call)
        if asked:
            return asked
    return (
        _first(call.text("response_model") for call in chats)
        or _first(reading.text("model") or reading.text("response_model") for reading in ordered)
        or _first(_answered_model(call.content) for call in chats)
        or _first(_answered_model(content_of(reading)) for reading in ordered if reading.kind in _FRAMES)
    )


def _provider(ordered: Sequence[Reading], chats: Sequence[ModelCall]) -> str | None:
    for call in chats:
        vendor = vendor_of(call.text("provider"))
        if vendor:
            return vendor
    return _first(vendor_of(reading.text("provider")) for reading in ordered if "provider" in reading.found)


def scenario_of(*places: Mapping[str, Value]) -> str | None:
    """The scenario that attributes tell: the best key wins, then the first of the places (a span, its resource)."""
    for key in _KEYS["scenario"]:
        for place in places:
            text = text_of_fact(place.get(key))
            if text:
                return text
    return None


def _told(ordered: Sequence[Reading], on_resource: Found, resource: Attributes, fact: str) -> str | None:
    """A fact told on any span or resource: the best key wins, then the outermost span, then the resource."""
    telling = [reading for reading in ordered if fact in reading.found]
    if not telling and fact not in on_resource:
        return None
    keys = _KEYS[fact]
    best: tuple[int, str] | None = None
    for reading in telling:
        key = reading.found[fact][0]
        rank = keys.index(key)
        text = text_of_fact(reading.attributes[key])
        if text and (best is None or rank < best[0]):
            best = (rank, text)
            if rank == 0:
                return text
    for key in on_resource.get(fact, ()):
        if best is not None and best[0] <= keys.index(key):
            break
        text = text_of_fact(resource[key])
        if text:
            return text
    return best[1] if best is not None else None


def _asked_model(call: ModelCall) -> str | None:
    """The model that was asked for: where one key holds whichever name was known last, the request's parameters say."""
    for reading in call.readings:
        if reading.keys("model")[:1] == ("llm.model_name",):
            break
    else:
        return call.text("model")
    for reading in call.readings:
        parameters = structured(reading.value("parameters"))
        if isinstance(parameters, dict) and isinstance(parameters.get("model"), str) and parameters["model"]:
            return str(parameters["model"])
    return call.text("model")


def _answered_model(content: Content) -> str | None:
    """The model that an answer carries beside it."""
    return _first(
        told for message in content.answered if message.meta and isinstance(told := message.meta.get("model"), str)
    )


def _session(reading: Reading) -> str | None:
    """The session in what an application attached as JSON."""
    value = reading.value("metadata")
    metadata = parse_container(value) if isinstance(value, str) else None
    if isinstance(metadata, dict):
        return _first(told for key in _SESSIONS if isinstance(told := metadata.get(key), str))
    return None


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)
