"""Carrying OpenTelemetry's context where Python does not: into threads, pools and child processes.

A thread begins with an empty context, so a tool that runs in one would lose its run and its scenario. The wrappers are
put in once, do nothing where there is nothing to carry, and hand everything else through as it came.
"""

import functools
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, MutableMapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import current_process
from multiprocessing.process import BaseProcess
from typing import Any

from opentelemetry import context, propagate
from opentelemetry.context import Context

from whileai_instrumentation import names

_MARK = "_whileai_carries"
_ON_OBJECT = "_whileai_context"
# https://opentelemetry.io/docs/specs/otel/context/env-carriers/
_HEADERS = ("traceparent", "tracestate", "baggage")

_lock = threading.Lock()
_arrived = False


def carry_context() -> None:
    """Put the wrappers in, unless they are."""
    with _lock:
        _wrap(threading.Thread, "start", _thread_start)
        _wrap(ThreadPoolExecutor, "submit", _pool_submit)
        _wrap(ProcessPoolExecutor, "submit", _process_pool_submit)
        _wrap(BaseProcess, "start", _process_start)
        _wrap(BaseProcess, "_bootstrap", _process_bootstrap)
        _wrap(subprocess.Popen, "__init__", _popen)


def take_up_context() -> None:
    """In a child process: go on in the run and the scenario that the parent started it from."""
    global _arrived
    if _arrived:
        return
    _arrived = True
    headers = getattr(current_process(), _ON_OBJECT, None) or environment_headers(os.environ)
    if headers:
        context.attach(propagate.extract(headers))


def environment_headers(environment: Mapping[str, str]) -> dict[str, str]:
    """The context in an environment, if one of ours put it there: another tool's `TRACEPARENT` joins no runs."""
    headers = {name: environment[name.upper()] for name in _HEADERS if environment.get(name.upper())}
    return headers if names.SCENARIO in headers.get("baggage", "") else {}


def context_headers() -> dict[str, str]:
    """The current context as W3C headers; nothing outside of a scenario."""
    headers: dict[str, str] = {}
    propagate.inject(headers)
    return headers if names.SCENARIO in headers.get("baggage", "") else {}


def _wrap(owner: type, method: str, wrapper: Callable[..., Any]) -> None:
    original = getattr(owner, method)
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        return wrapper(original, self, *args, **kwargs)

    setattr(wrapped, _MARK, True)
    setattr(owner, method, wrapped)


def _thread_start(original: Callable[..., Any], thread: threading.Thread) -> Any:
    current = context.get_current()
    if current and not thread.name.startswith("whileai-"):
        own = thread.run  # of whatever class: subclasses bring their own

        def run() -> None:
            thread.__dict__.pop("run", None)
            _within(current, own)

        thread.__dict__["run"] = run
    return original(thread)


def _pool_submit(original: Callable[..., Any], pool: Any, task: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    current = context.get_current()
    if not current:
        return original(pool, task, *args, **kwargs)
    # A worker thread was started by an earlier task, in that one's context: each task brings its own.
    return original(pool, functools.partial(_within, current, task), *args, **kwargs)


def _process_pool_submit(
    original: Callable[..., Any], pool: Any, task: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    headers = context_headers()
    if not headers:
        return original(pool, task, *args, **kwargs)
    return original(pool, functools.partial(_within_headers, headers, task), *args, **kwargs)


def _process_start(original: Callable[..., Any], process: BaseProcess) -> Any:
    headers = context_headers()
    if headers:  # goes along when the process is pickled; a forked one has the context itself
        setattr(process, _ON_OBJECT, headers)
    return original(process)


def _process_bootstrap(original: Callable[..., Any], process: BaseProcess, *args: Any, **kwargs: Any) -> Any:
    headers = process.__dict__.pop(_ON_OBJECT, None)
    return (
        _within_headers(headers, original, process, *args, **kwargs) if headers else original(process, *args, **kwargs)
    )


def _popen(original: Callable[..., Any], popen: Any, *args: Any, **kwargs: Any) -> Any:
    headers = context_headers()
    if headers and len(args) < 11:  # the eleventh is the environment, which nobody gives by position
        given: MutableMapping[str, str] | None = kwargs.get("env")
        environment = dict(os.environ if given is None else given)
        for name, value in headers.items():
            environment[name.upper()] = value
        kwargs["env"] = environment
    return original(popen, *args, **kwargs)


def _within(where: Context, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    token = context.attach(where)
    try:
        return task(*args, **kwargs)
    finally:
        context.detach(token)


def _within_headers(headers: dict[str, str], task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return _within(propagate.extract(headers), task, *args, **kwargs)
