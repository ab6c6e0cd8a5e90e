"""An agent process installs and imports the base only, so the base must stay light."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement

DISTRIBUTION = "whileai-platform"
# Distributions that the base may not pull in, and the modules that importing it may not load.
HEAVY = {
    "chdb": "chdb",
    "chdb-core": "_chdb",
    "clickhouse-connect": "clickhouse_connect",
    "grpcio": "grpc",
    "fastapi": "fastapi",
    "sqlalchemy": "sqlalchemy",
    "alembic": "alembic",
    "uvicorn": "uvicorn",
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed_by(distribution: str, extras: frozenset[str] = frozenset()) -> list[Requirement]:
    found = [Requirement(text) for text in requires(distribution) or ()]
    environments = [{"extra": extra} for extra in (extras or {""})]
    return [
        requirement
        for requirement in found
        if requirement.marker is None or any(requirement.marker.evaluate(extra) for extra in environments)
    ]


def closure() -> set[str]:
    """Everything that installing the base brings, as the installed metadata say."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting: list[tuple[str, frozenset[str]]] = [(DISTRIBUTION, frozenset())]
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        waiting += [(canonical(need.name), frozenset(need.extras)) for need in needed_by(name, extras)]
    return {name for name, _ in seen} - {DISTRIBUTION}


def test_the_base_installation_is_light() -> None:
    brought = closure()
    assert {"httpx", "pydantic", "opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"} <= brought
    assert brought.isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "imports",
    [
        "whileai, whileai.simulations, whileai.ingest",
        "whileai.cli",
        "whileai_dialects, whileai_instrumentation",
        "whileai.simulations as wai; wai.send_score; wai.cut; wai.pull; wai.format_cuts; wai.holdout_size",
    ],
)
def test_importing_the_base_loads_nothing_heavy(imports: str) -> None:
    program = f"import {imports}; import sys; print(*sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(shown.stdout.split()).isdisjoint(HEAVY.values())
