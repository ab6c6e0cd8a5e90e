"""Which instrumentors are found, which of several is taken, and what would help: on made-up installed packages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, distributions
from pathlib import Path

import pytest

from whileai_instrumentation import frameworks, instrumentors
from whileai_instrumentation.import_hook import when_imported
from whileai_instrumentation.instrumentors import Choice, Instrumentor, chosen, found
from whileai_instrumentation.notice import sentence
from whileai_instrumentation.switching import Switched, switch_on

Installs = Callable[..., None]
INSTRUMENTOR = """
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

class Made(BaseInstrumentor):
    times = 0

    def instrumentation_dependencies(self):
        return []

    def _instrument(self, **kwargs):
        {body}
        type(self).times += 1

    def _uninstrument(self, **kwargs):
        pass
"""


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    """Installs made-up distributions into a folder on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    instrumentors.installed.cache_clear()

    def install(package: str, library: str = "", *, name: str = "", url: str = "", body: str = "pass") -> None:
        module = package.replace("-", "_")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        requires = f'Requires-Dist: {library}>=0; extra == "instruments"\n' if library else ""
        link = f"Project-URL: Repository, {url}\n" if url else ""
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n{requires}{link}")
        if name:
            (info / "entry_points.txt").write_text(f"[{instrumentors.GROUP}]\n{name} = {module}:Made\n")
            (tmp_path / f"{module}.py").write_text(INSTRUMENTOR.format(body=body))
        importlib.invalidate_caches()

    yield install
    instrumentors.installed.cache_clear()
    for module in [name for name, one in sys.modules.items() if str(tmp_path) in str(getattr(one, "__file__", ""))]:
        del sys.modules[module]


def here(folder: Path) -> list[EntryPoint]:
    """The entry points of what is installed in a folder."""
    return [
        entry
        for distribution in distributions(path=[str(folder)])
        for entry in distribution.entry_points
        if entry.group == instrumentors.GROUP
    ]


def choices(folder: Path, **wishes: object) -> dict[str, tuple[str, list[str]]]:
    picked = chosen(found(here(folder)), environment={}, **wishes)  # type: ignore[arg-type]  # the wishes differ
    return {
        choice.taken.key: (choice.taken.package, [other.package for other in choice.passed_over]) for choice in picked
    }


def three_for_openai(installs: Installs) -> None:
    installs("openai")
    installs("openinference-instrumentation-openai", "openai", name="openai")
    installs("opentelemetry-instrumentation-genai-openai", "openai", name="openai")
    traceloop = "https://github.com/traceloop/openllmetry"
    installs("opentelemetry-instrumentation-openai", "openai", name="openai-old", url=traceloop)


def test_of_several_for_one_library_one_is_taken_and_the_others_are_named(installs: Installs, tmp_path: Path) -> None:
    three_for_openai(installs)
    others = ["opentelemetry-instrumentation-genai-openai", "opentelemetry-instrumentation-openai"]
    assert choices(tmp_path) == {"openai": ("openinference-instrumentation-openai", others)}


@pytest.mark.parametrize(
    ("prefer", "taken"),
    [
        (["openllmetry"], "opentelemetry-instrumentation-openai"),
        (["opentelemetry_instrumentation_genai_openai"], "opentelemetry-instrumentation-genai-openai"),
        (["something else"], "openinference-instrumentation-openai"),
    ],
)
def test_a_preference_decides(installs: Installs, tmp_path: Path, prefer: list[str], taken: str) -> None:
    three_for_openai(installs)
    assert choices(tmp_path, prefer=prefer)["openai"][0] == taken


def test_one_that_the_program_switched_on_itself_is_taken(installs: Installs, tmp_path: Path) -> None:
    three_for_openai(installs)
    (own,) = [one for one in found(here(tmp_path)) if one.family == "openllmetry"]
    own.load().instrument()
    assert choices(tmp_path)["openai"][0] == "opentelemetry-instrumentation-openai"


def test_only_and_exclude_go_by_name_package_or_library(installs: Installs, tmp_path: Path) -> None:
    three_for_openai(installs)
    installs("requests-made-up")
    installs("opentelemetry-instrumentation-requests-made-up", "requests-made-up", name="requests_made_up")
    assert set(choices(tmp_path)) == {"openai", "requests-made-up"}
    assert set(choices(tmp_path, only=["openai"])) == {"openai"}
    assert set(choices(tmp_path, exclude=["openai"])) == {"requests-made-up"}
    left = choices(tmp_path, exclude=["openinference-instrumentation-openai", "requests_made_up"])
    assert left["openai"][0] == "opentelemetry-instrumentation-genai-openai"


def test_opentelemetrys_own_variable_disables(installs: Installs, tmp_path: Path) -> None:
    three_for_openai(installs)
    for words, left in (("*", 0), ("other, openai ,openai-old", 0), ("other", 1)):
        disabled = {instrumentors.DISABLED: words}
        assert len(chosen(found(here(tmp_path)), environment=disabled)) == left


def test_an_instrumentor_without_its_library_is_not_found(installs: Installs, tmp_path: Path) -> None:
    installs("openinference-instrumentation-absent", "a-library-that-is-not-here", name="absent")
    assert found(here(tmp_path)) == []


def test_what_is_found_is_switched_on_once_and_a_failure_harms_no_other(installs: Installs) -> None:
    installs("one-made-up")
    installs("two-made-up")
    installs("instruments-one", "one-made-up", name="one")
    installs("instruments-two", "two-made-up", name="two", body="raise RuntimeError('out of date')")
    for _ in range(2):
        switched = switch_on(True, only=["one", "two"])
        assert switched.on == ("one (instruments-one)",)
        assert switched.failed == ("instruments-two (RuntimeError: out of date)",)
    assert importlib.import_module("instruments_one").Made.times == 1


def test_a_library_that_nothing_sees_gets_the_name_of_a_package(installs: Installs) -> None:
    installs("openai")
    assert switch_on(True).advice == (("openai", "openinference-instrumentation-openai"),)
    instrumentors.installed.cache_clear()
    installs("smolagents")
    assert switch_on(True).advice == (("smolagents", "openinference-instrumentation-smolagents"),)


def test_below_a_framework_that_is_seen_nothing_more_is_asked_for(installs: Installs) -> None:
    installs("openai")
    installs("strands-agents")
    switched = switch_on(True)
    assert switched.on == ("Strands (its own)",)
    assert switched.advice == ()


def test_the_line_names_what_is_on_what_was_left_and_what_failed() -> None:
    switched = Switched(("openai (a)",), ("b (a is on)",), ("c (ValueError: no)",), (("smolagents", "d"),))
    assert sentence("refund-bot", "http://127.0.0.1:4318", switched) == (
        "whileai: traces of refund-bot go to http://127.0.0.1:4318; switched on: openai (a); "
        "left off: b (a is on); failed: c (ValueError: no); install d to see smolagents"
    )
    assert sentence(None, "http://h", Switched()) == "whileai: traces go to http://h; nothing to switch on was found"


def test_a_switch_is_thrown_when_its_framework_is_imported_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "made_up_framework").mkdir()
    (tmp_path / "made_up_framework" / "__init__.py").write_text("ready = True\n")
    (tmp_path / "made_up_framework" / "tracing.py").write_text("")
    thrown: list[str] = []

    def throw() -> None:
        assert sys.modules["made_up_framework"].ready
        thrown.append("framework")

    when_imported("made_up_framework", throw)
    when_imported("made_up_framework.tracing", lambda: thrown.append("tracing"))
    assert thrown == []
    importlib.import_module("made_up_framework")
    assert thrown == ["framework"]
    importlib.import_module("made_up_framework.tracing")
    assert thrown == ["framework", "tracing"]
    when_imported("made_up_framework", lambda: thrown.append("again"))
    assert thrown[-1] == "again"
    importlib.reload(sys.modules["made_up_framework"])
    assert len(thrown) == 3


def test_a_switch_that_breaks_is_told_and_the_import_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "made_up_other.py").write_text("ready = True\n")

    def broken() -> None:
        raise ZeroDivisionError

    when_imported("made_up_other", broken)
    assert importlib.import_module("made_up_other").ready
    assert "tracing of made_up_other could not be switched on: ZeroDivisionError" in caplog.text


def test_every_package_of_the_tables_is_spelled_as_the_index_spells_it() -> None:
    tables = (frameworks.FRAMEWORK_PACKAGES, frameworks.MODEL_PACKAGES)
    words = [word for table in tables for pair in table.items() for word in pair]
    assert [word for word in words if word != instrumentors.normal(word)] == []


def test_two_libraries_are_two_choices() -> None:
    entry = EntryPoint("x", "x:y", instrumentors.GROUP)
    one, other = (Instrumentor(name, name, "f", (name,), entry) for name in ("a", "b"))
    assert chosen([one, other], environment={}) == [Choice(one, ()), Choice(other, ())]
