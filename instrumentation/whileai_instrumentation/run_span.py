"""`@whileai.run`: an agent span around a plain function, for agents without a framework.

The span is open while the function runs: for a coroutine until it returns, for a generator until it is exhausted or
closed. Inside, it is the current span, so that model calls and tools become its children.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from opentelemetry import context, trace
from opentelemetry.trace import Status, StatusCode

from whileai_instrumentation import names, state
from whileai_instrumentation.identity import OWN_SCOPE
from whileai_instrumentation.messages import input_messages, joined, output_messages
from whileai_instrumentation.scenario import scenario as scenario_block
from whileai_instrumentation.warnings_once import warn

F = TypeVar("F", bound=Callable[..., Any])


@overload
def run(agent: F, /) -> F: ...
@overload
def run(
    agent: str | None = None,
    *,
    version: str | None = None,
    scenario: str | None = None,
    eval_set: str | None = None,
    capture_content: bool | None = None,
) -> Callable[[F], F]: ...
def run(
    agent: Any = None,
    *,
    version: str | None = None,
    scenario: str | None = None,
    eval_set: str | None = None,
    capture_content: bool | None = None,
) -> Any:
    """An agent span around a function, sync or async, generator or not.

    The agent is the one named here, else the one given to `instrument`, else the function's name. What goes in and
    comes out is kept as the run's prompt and answer, unless `capture_content` says otherwise here or in `instrument`.
    """
    if callable(agent):
        return _decorated(agent, _Wish())
    wish = _Wish(agent, version, scenario, eval_set, capture_content)
    return lambda function: _decorated(function, wish)


@dataclass(frozen=True)
class _Wish:
    """What the decorator was given."""

    agent: str | None = None
    version: str | None = None
    scenario: str | None = None
    eval_set: str | None = None
    capture_content: bool | None = None

    def begin(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> "_Run":
        agent = self.agent or state.agent() or function.__name__
        facts = {names.OPERATION: "invoke_agent", names.AGENT: agent, names.AGENT_VERSION: self.version}
        block = scenario_block(self.scenario, eval_set=self.eval_set) if self.scenario else nullcontext()
        with block:
            span = trace.get_tracer(OWN_SCOPE).start_span(
                f"invoke_agent {agent}", attributes={key: value for key, value in facts.items() if value}
            )
            inside = trace.set_span_in_context(span)
        capture = state.capture_content() if self.capture_content is None else self.capture_content
        run = _Run(span, inside, capture)
        run.tell(names.INPUT_MESSAGES, lambda: input_messages(function, args, kwargs))
        return run


@dataclass(frozen=True)
class _Run:
    """One call of a decorated function."""

    span: trace.Span
    context: context.Context
    capture: bool

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The function's own code runs in here, and nobody else's: between its steps a generator leaves no trace."""
        token = context.attach(self.context)
        try:
            yield
        finally:
            context.detach(token)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note how the function ends, and end the span."""
        try:
            yield
        except BaseException as problem:
            if not isinstance(problem, GeneratorExit):  # else the caller has seen enough
                self.span.record_exception(problem)
                self.span.set_attribute("error.type", type(problem).__qualname__)
                self.span.set_status(Status(StatusCode.ERROR, f"{type(problem).__name__}: {problem}"))
            raise
        finally:
            self.span.end()

    def answer(self, result: Any) -> None:
        self.tell(names.OUTPUT_MESSAGES, lambda: output_messages(result))

    def tell(self, key: str, text: Callable[[], str | None]) -> None:
        """Put content on the span. What cannot be shown is left out; that is not the function's trouble."""
        if not self.capture or not self.span.is_recording():
            return
        try:
            told = text()
        except Exception as problem:
            warn("content", "what a run was given or gave cannot be shown: %s: %s", type(problem).__name__, problem)
            return
        if told is not None:
            self.span.set_attribute(key, told)


def _decorated(function: Any, wish: _Wish) -> Any:
    for is_kind, wrap in _KINDS:
        if is_kind(function):
            return functools.wraps(function)(wrap(function, wish))
    raise AssertionError("unreachable: the last kind takes everything")


def _plain(function: Callable[..., Any], wish: _Wish) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = wish.begin(function, args, kwargs)
        with run.watched():
            with run.inside():
                result = function(*args, **kwargs)
            run.answer(result)
            return result

    return wrapper


def _coroutine(function: Callable[..., Any], wish: _Wish) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = wish.begin(function, args, kwargs)
        with run.watched():
            with run.inside():
                result = await function(*args, **kwargs)
            run.answer(result)
            return result

    return wrapper


def _generator(function: Callable[..., Any], wish: _Wish) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = wish.begin(function, args, kwargs)
        given: list[Any] = []
        steps = function(*args, **kwargs)
        step: Callable[[], Any] = lambda: next(steps)  # noqa: E731  # the next thing to do, replaced by send and throw
        with run.watched():
            try:
                while True:
                    with run.inside():
                        item = step()
                    given.append(item)
                    try:
                        sent = yield item
                        step = functools.partial(steps.send, sent)
                    except GeneratorExit:
                        with run.inside():
                            steps.close()
                        raise
                    except BaseException as problem:
                        step = functools.partial(steps.throw, problem)
            except StopIteration as end:
                run.answer(joined(given) if given else end.value)
                return end.value
            except GeneratorExit:
                run.answer(joined(given))
                raise

    return wrapper


def _async_generator(function: Callable[..., Any], wish: _Wish) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = wish.begin(function, args, kwargs)
        given: list[Any] = []
        steps = function(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(steps.asend, None)
        with run.watched():
            try:
                while True:
                    with run.inside():
                        item = await step()
                    given.append(item)
                    try:
                        sent = yield item
                        step = functools.partial(steps.asend, sent)
                    except GeneratorExit:
                        with run.inside():
                            await steps.aclose()
                        raise
                    except BaseException as problem:
                        step = functools.partial(steps.athrow, problem)
            except StopAsyncIteration:
                run.answer(joined(given))
            except GeneratorExit:
                run.answer(joined(given))
                raise

    return wrapper


# The first kind that a function is says how it is wrapped.
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Callable[..., Any], _Wish], Callable[..., Any]]], ...] = (
    (inspect.iscoroutinefunction, _coroutine),
    (inspect.isasyncgenfunction, _async_generator),
    (inspect.isgeneratorfunction, _generator),
    (callable, _plain),
)
