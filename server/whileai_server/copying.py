"""Copying a tree while its files come and go, and a list of what was copied, by which a backup can be checked."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from whileai_server.errors import StartError


def copy_tree(source: Path, target: Path, keep: Callable[[Path], bool] = lambda _path: True) -> None:
    """Everything that `keep` (asked with the path below the source) lets through; links stay links."""
    for path in walk(source):
        below = path.relative_to(source)
        if not keep(below):
            continue
        place = target / below
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # gone since it was listed
            if path.is_symlink():
                place.symlink_to(os.readlink(path))
            elif path.is_dir():
                place.mkdir(exist_ok=True)
            else:
                shutil.copy2(path, place)


def walk(folder: Path) -> Iterator[Path]:
    """Every file, link and folder below; folders before what is in them."""
    with contextlib.suppress(FileNotFoundError):
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from walk(Path(entry.path))


def sizes_of(folder: Path) -> dict[str, int]:
    """Path below the folder -> bytes, for every file."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in walk(folder)
        if path.is_file() and not path.is_symlink()
    }


def check_sizes(folder: Path, wanted: dict[str, int]) -> None:
    """Raises `StartError` naming the first file that is missing or was cut."""
    there = sizes_of(folder)
    for name, size in wanted.items():
        if there.get(name) != size:
            found = f"{there[name]} bytes" if name in there else "missing"
            raise StartError(f"the backup is damaged: {name} should have {size} bytes and is {found}")


def flush(folder: Path) -> None:
    """Make the tree durable."""
    for path in walk(folder):
        if not path.is_symlink():
            _sync(path)
    _sync(folder)


def is_empty(folder: Path) -> bool:
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def total(sizes: Iterable[int]) -> str:
    """A size for a person."""
    left, unit = float(sum(sizes)), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if left < 1000:
            break
        left, unit = left / 1000, larger
    return f"{left:.1f} {unit}" if unit != "B" else f"{left:.0f} B"


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
