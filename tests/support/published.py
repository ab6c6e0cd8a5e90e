"""The published client `whileai` in an environment of its own, made once and kept beside the tree.

It is driven from outside only: nothing of it is imported into the tests.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import venv
from pathlib import Path

VERSION = "0.86"
FOLDER = Path(__file__).resolve().parents[2] / ".venvs" / "published"


def published_python() -> Path:
    """The interpreter of that environment; two test processes that need it at once take turns making it."""
    ready = FOLDER / f".ready-{VERSION}"
    python = FOLDER / "bin" / "python"
    FOLDER.parent.mkdir(exist_ok=True)
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            venv.create(FOLDER, with_pip=True, clear=True)
            pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", f"whileai=={VERSION}"]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"whileai=={VERSION} could not be installed: {done.stderr}"
            ready.touch()
    return python


def our_python() -> Path:
    """The interpreter in which our own client is installed: the one that runs the tests."""
    return Path(sys.executable)
