"""The instrumentors installed here, found as OpenTelemetry finds them, and which of several for a library is taken."""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import Any

GROUP = "opentelemetry_instrumentor"
DISABLED = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"  # OpenTelemetry's own variable: names, or `*`

# The best first. OpenInference tells content, tools and agents on spans without further switches; OpenTelemetry's own
# packages need several; OpenLLMetry's spans of one call may lie in a trace of their own.
FAMILIES = ("openinference", "opentelemetry", "openllmetry")
OWN_WORK = frozenset({"opentelemetry-instrumentation-threading"})  # `carrying` does what it does
_SAME = {"langchain-core": "langchain", "langgraph": "langchain", "llama-index-core": "llama-index"}
_INSTRUMENTS = re.compile(r"^(?P<library>[A-Za-z0-9._-]+).*;.*extra\s*==\s*['\"]instruments(?:-any)?['\"]")


@dataclass(frozen=True)
class Instrumentor:
    """One installed instrumentor."""

    name: str
    package: str
    family: str
    libraries: tuple[str, ...]
    entry: EntryPoint

    @property
    def key(self) -> str:
        """What two instrumentors of one library have in common."""
        return _SAME.get(self.libraries[0], self.libraries[0]) if self.libraries else normal(self.name)

    def load(self) -> Any:
        """The instrumentor object; there is one of each class."""
        return self.entry.load()()

    def is_on(self) -> bool:
        """Whether the program switched it on itself."""
        if self.entry.module not in sys.modules:
            return False
        return bool(getattr(self.load(), "is_instrumented_by_opentelemetry", False))


@dataclass(frozen=True)
class Choice:
    """One instrumentor a library, and those that were passed over for it."""

    taken: Instrumentor
    passed_over: tuple[Instrumentor, ...]


def found(entries: Iterable[EntryPoint] | None = None) -> list[Instrumentor]:
    """Every instrumentor whose library is installed, by name."""
    every = entry_points(group=GROUP) if entries is None else entries
    seen = {_instrumentor(entry) for entry in every}
    wanted = [
        one for one in seen if one.package not in OWN_WORK and (not one.libraries or any(map(installed, one.libraries)))
    ]
    return sorted(wanted, key=lambda one: (one.name, one.package))


def chosen(
    instrumentors: Iterable[Instrumentor],
    *,
    only: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    prefer: Iterable[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> list[Choice]:
    """One for each library: the one that is on already, else by `prefer` (packages or families), else by family."""
    disabled = {normal(word.strip()) for word in environment.get(DISABLED, "").split(",")}
    if "*" in disabled:
        return []
    unwanted = disabled | set(map(normal, exclude))
    wished = None if only is None else set(map(normal, only))
    order = [*map(normal, prefer), *FAMILIES]
    by_key: dict[str, list[Instrumentor]] = {}
    for one in instrumentors:
        words = {normal(one.name), normal(one.package), one.key}
        if not words & unwanted and (wished is None or words & wished):
            by_key.setdefault(one.key, []).append(one)
    return [_choice(candidates, order) for _, candidates in sorted(by_key.items())]


def normal(name: str) -> str:
    """A name as the package index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def installed(library: str) -> bool:
    """Whether a distribution is installed."""
    try:
        version(library)
    except PackageNotFoundError:
        return False
    return True


def _choice(candidates: Sequence[Instrumentor], order: Sequence[str]) -> Choice:
    def rank(one: Instrumentor) -> tuple[bool, int, str]:
        words = (normal(one.package), one.family)
        place = next((at for at, word in enumerate(order) if word in words), len(order))
        return (len(candidates) > 1 and not one.is_on(), place, one.package)

    best, *others = sorted(candidates, key=rank)
    return Choice(best, tuple(others))


def _instrumentor(entry: EntryPoint) -> Instrumentor:
    dist = entry.dist
    package = normal(dist.name) if dist is not None else entry.module.split(".")[0]
    requires = (dist.requires or ()) if dist is not None else ()
    matches = (_INSTRUMENTS.match(requirement) for requirement in requires)
    libraries = tuple(normal(match["library"]) for match in matches if match)
    return Instrumentor(entry.name, package, _family(package, dist), libraries, entry)


def _family(package: str, dist: Any) -> str:
    if package.startswith("openinference-"):
        return "openinference"
    links = " ".join(dist.metadata.get_all("Project-URL") or ()) if dist is not None else ""
    if "traceloop" in links:
        return "openllmetry"
    return "opentelemetry" if package.startswith("opentelemetry-") else package
