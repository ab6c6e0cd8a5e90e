"""What an agent's process takes on: the files of the base installation, and what the import loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.side_venv import python_of

MOST_BYTES = 30_000_000
NOT_BROUGHT = ("chdb", "grpc", "fastapi", "sqlalchemy", "numpy")


@pytest.mark.soak
def test_the_base_installation_is_small_and_brings_nothing_of_the_service(tmp_path: Path) -> None:
    nothing = tmp_path / "requirements.txt"
    nothing.write_text("")
    python = python_of("base", nothing)
    (packages,) = (python.parent.parent / "lib").glob("python*/site-packages")
    installers = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    files = [
        path
        for path in packages.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.relative_to(packages).parts[0].startswith(installers)
    ]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    assert [name for name in NOT_BROUGHT if (packages / name).exists()] == []


def test_the_import_loads_nothing_until_it_is_needed() -> None:
    program = "import sys, whileai; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    heavy = ("opentelemetry", "whileai_instrumentation", "httpx", "google.protobuf", "multiprocessing")
    assert [name for name in heavy if name in loaded] == []


def test_the_line_itself_loads_no_http_client_and_no_framework() -> None:
    program = (
        "import sys, whileai; whileai.instrument(api_key='zp_none', endpoint='http://127.0.0.1:9', quiet=True, "
        "spool=False); print(*sorted(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    heavy = ("httpx", "requests", "grpc", "numpy", "openai", "pydantic", "rich")
    assert [name for name in heavy if name in loaded] == []
