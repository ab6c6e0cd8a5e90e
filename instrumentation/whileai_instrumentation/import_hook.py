"""Doing something when a module gets imported, and not before: installed frameworks that a program never uses cost it
nothing."""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from whileai_instrumentation.warnings_once import warn

Action = Callable[[], None]


class _Watcher(MetaPathFinder):
    """Finds nothing itself: lets the others find a module, and notes when it has been executed."""

    def __init__(self) -> None:
        self.actions: dict[str, Action] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        action = self.actions.get(fullname)
        if action is None:
            return None
        for finder in sys.meta_path:
            find: Any = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(fullname, path, target) if find is not None and finder is not self else None
            if spec is not None:
                self._watch(spec, fullname)
                return spec
        return None

    def _watch(self, spec: ModuleSpec, name: str) -> None:
        loader: Any = spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module: ModuleType) -> None:
            execute(module)
            action = self.actions.pop(name, None)
            if action is not None:
                attempt(name, action)

        loader.exec_module = exec_module


_watcher = _Watcher()


def when_imported(module: str, action: Action) -> None:
    """Act now when the module is there already, else right after it was imported. One action a module."""
    if module in sys.modules:
        _watcher.actions.pop(module, None)
        attempt(module, action)
        return
    _watcher.actions[module] = action
    if _watcher not in sys.meta_path:
        sys.meta_path.insert(0, _watcher)


def attempt(what: str, action: Action) -> None:
    """Act; a framework that changed its ways is told, and costs nothing else."""
    try:
        action()
    except Exception as problem:
        warn(f"switch {what}", "tracing of %s could not be switched on: %s: %s", what, type(problem).__name__, problem)
