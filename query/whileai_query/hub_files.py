"""Which files of a Hub repository hold the rows of a split: what its card says, else what its file names say. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from whileai_query.tabular import is_readable

# What else a split is called in file names.
_ALIASES = {
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing"),
    "train": ("train", "training"),
}
_WORDS = re.compile(r"[^A-Za-z0-9]+")
DEFAULT_CONFIG = "default"


class NoSuchSplit(Exception):
    """No file holds it; the message names what there is."""


def files_of(paths: Sequence[str], configs: Any, config: str | None, split: str) -> list[str]:
    """The files, in order. Raises `NoSuchSplit`."""
    readable = sorted(path for path in paths if is_readable(path))
    if not readable:
        raise NoSuchSplit("the repository has no Parquet, JSON lines, CSV or Arrow files")
    told = _told(configs, config)
    if told is not None:
        chosen = [path for path in readable if any(_matches(path, pattern) for pattern in told.get(split, ()))]
        return chosen or _refuse(split, told)
    if config is not None and config != DEFAULT_CONFIG:
        readable = [path for path in readable if config in PurePosixPath(path).parts]
        if not readable:
            raise NoSuchSplit(f"no file belongs to the config {config[:80]!r}")
    named = {name: [path for path in readable if name in _words(path)] for name in _ALIASES.get(split, (split,))}
    chosen = next((found for found in named.values() if found), [])
    if chosen:
        return chosen
    # Files whose names tell no split at all are the train split, as `datasets` has it.
    plain = [path for path in readable if not _splits_in(path)]
    return plain if split == "train" and plain else _refuse(split, _splits_in(*readable))


def _told(configs: Any, config: str | None) -> dict[str, list[str]] | None:
    """Split -> patterns of the card's metadata; None when it says nothing of this config."""
    entries = [entry for entry in configs if isinstance(entry, dict)] if isinstance(configs, list) else []
    entries = [entry for entry in entries if entry.get("data_files")]
    if not entries:
        return None
    default = next((entry for entry in entries if entry.get("default")), entries[0])
    named = {entry.get("config_name", DEFAULT_CONFIG): entry for entry in entries}
    found = named.get(DEFAULT_CONFIG, default) if config is None else named.get(config)
    if found is None:
        raise NoSuchSplit(f"there is no config {(config or '')[:80]!r}; there are {_listed(map(str, named))}")
    return _patterns(found["data_files"])


def _patterns(data_files: Any) -> dict[str, list[str]]:
    if isinstance(data_files, list) and all(isinstance(item, dict) for item in data_files):
        return {str(item.get("split", "train")): _as_list(item.get("path")) for item in data_files}
    if isinstance(data_files, dict):
        return {str(split): _as_list(path) for split, path in data_files.items()}
    return {"train": _as_list(data_files)}


def _as_list(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _matches(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(path, pattern.replace("**/", ""))


def _words(path: str) -> set[str]:
    return {word.lower() for word in _WORDS.split(path) if word}


def _splits_in(*paths: str) -> list[str]:
    known = {alias: split for split, aliases in _ALIASES.items() for alias in aliases}
    return sorted({known[word] for path in paths for word in _words(path) if word in known})


def _refuse(split: str, there: Iterable[str] | Mapping[str, Any]) -> list[str]:
    raise NoSuchSplit(f"there is no split {split[:80]!r}; there are {_listed(there)}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)[:20]) or "none that the file names tell"
