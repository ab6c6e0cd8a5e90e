"""The one embedded engine of a test process: chDB takes one folder per process, so tests share it, an account each."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache


@cache
def engine_url() -> str:
    """The URL of this process's engine, on a folder that goes away with the process."""
    folder = tempfile.mkdtemp(prefix="whileai-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return f"chdb://{folder}/clickhouse"
