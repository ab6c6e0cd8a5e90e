"""Environments beside the tests' own, where frameworks are: made when first needed, then kept."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venvs"


def python_of(name: str, requirements: Path) -> Path:
    """The Python of an environment with this distribution, as an agent installs it, and these requirements.

    The whole is resolved at once, so that frameworks with bounds on OpenTelemetry get a version that both can live
    with. Changed requirements make the environment anew; two test processes make it once.
    """
    folder = FOLDER / name
    python = folder / "bin" / "python"
    wanted = hashlib.sha256(requirements.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / ".ready"
        if not stamp.exists() or stamp.read_text() != wanted:
            _run([sys.executable, "-m", "venv", "--clear", str(folder)])
            install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            _run([*install, "-e", str(ROOT), "-r", str(requirements)])
            stamp.write_text(wanted)
    return python


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[-3000:]}"
