"""Node programs of the tests: their packages are installed beside the environments when first needed, then kept."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.side_venv import FOLDER


def node_folder(name: str, source: Path) -> Path:
    """A folder with the files of `source`, where what its package.json asks for is installed."""
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w") as lock:  # two test processes install once
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in [source / "package.json", *source.glob("*.mjs")]:
            shutil.copy(path, folder / path.name)
        installed, wanted = folder / "installed.json", (source / "package.json").read_text()
        if not installed.exists() or installed.read_text() != wanted:
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True)
            installed.write_text(wanted)
    return folder


def run_node(folder: Path, program: str, environment: Mapping[str, str]) -> str:
    """What the program wrote; its errors are told when it fails."""
    ran = subprocess.run(
        ["node", program],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
