"""Switching tracing on in everything that is installed, and saying what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from whileai_instrumentation.content_switches import set_content_switches
from whileai_instrumentation.frameworks import (
    FRAMEWORK_PACKAGES,
    FRAMEWORKS,
    INSTALLED_AS,
    MODEL_PACKAGES,
    Framework,
)
from whileai_instrumentation.import_hook import when_imported
from whileai_instrumentation.instrumentors import Choice, chosen, found, installed, normal


@dataclass(frozen=True)
class Switched:
    """What was switched on, what was passed over for what, what failed, and which package would show what."""

    on: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    advice: tuple[tuple[str, str], ...] = ()


def switch_on(
    capture_content: bool,
    *,
    only: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    prefer: Iterable[str] = (),
) -> Switched:
    """Set the content switches, switch on one instrumentor a library, and each framework when it is imported."""
    only = None if only is None else tuple(only)
    exclude = tuple(exclude)
    set_content_switches(capture_content)
    choices = chosen(found(), only=only, exclude=exclude, prefer=prefer)
    failures = {choice.taken.key: failure for choice in choices if (failure := _instrument(choice))}
    on = [choice for choice in choices if choice.taken.key not in failures]
    own = [framework for framework in FRAMEWORKS if _wanted(framework, only, exclude)]
    for framework in own:
        if framework.switch is not None:
            when_imported(framework.module, partial(framework.switch, capture_content))
    return Switched(
        on=(*(_shown(choice) for choice in on), *(f"{framework.title} (its own)" for framework in own)),
        passed_over=tuple(
            f"{other.package} ({choice.taken.package} is on)" for choice in on for other in choice.passed_over
        ),
        failed=tuple(failures.values()),
        advice=_advice({choice.taken.key for choice in choices}, bool(own)) if only is None else (),
    )


def _shown(choice: Choice) -> str:
    return f"{choice.taken.name} ({choice.taken.package})"


def _instrument(choice: Choice) -> str | None:
    """Switch one on; None, or what was wrong."""
    taken = choice.taken
    try:
        instrumentor = taken.load()
        if not getattr(instrumentor, "is_instrumented_by_opentelemetry", False):
            instrumentor.instrument(raise_exception_on_conflict=True)
    except Exception as problem:
        return f"{taken.package} ({type(problem).__name__}: {problem})"
    return None


def _wanted(framework: Framework, only: tuple[str, ...] | None, exclude: tuple[str, ...]) -> bool:
    words = {normal(framework.title), *framework.distributions}
    if words & set(map(normal, exclude)) or (only is not None and not words & set(map(normal, only))):
        return False
    return any(map(installed, framework.distributions))


def _advice(seen: set[str], framework_on: bool) -> tuple[tuple[str, str], ...]:
    """Libraries that are installed and not seen, with the package that shows them."""
    missing = [
        (library, package) for library, package in FRAMEWORK_PACKAGES.items() if library not in seen and _there(library)
    ]
    if not framework_on and not missing and not seen & set(FRAMEWORK_PACKAGES):
        missing = [
            (library, package) for library, package in MODEL_PACKAGES.items() if library not in seen and _there(library)
        ]
    return tuple(missing)


def _there(library: str) -> bool:
    return any(map(installed, INSTALLED_AS.get(library, (library,))))
