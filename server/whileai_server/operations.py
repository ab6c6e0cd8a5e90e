"""What an operator's tools ask: is it alive, is it ready, what does it count."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.responses import JSONResponse, Response

from whileai_ingest import Ingest, StoreUnavailable
from whileai_registry import Registry
from whileai_server.app import App, Receive, Scope, Send

CHECK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Operations:
    """`/healthz`, `/readyz` and `/metrics`; none of them needs a key."""

    ingest: Ingest
    registry: Registry
    counters: CollectorRegistry

    def routes(self) -> dict[str, App]:
        return {"/healthz": self.healthz, "/readyz": self.readyz, "/metrics": self.metrics}

    async def healthz(self, scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse({"status": "alive"})(scope, receive, send)

    async def readyz(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = ("journal", "clickhouse", "records")
        checks = (self.ingest.journal.check, self._clickhouse, self.registry.ping)
        problems = dict(zip(names, await asyncio.gather(*map(_problem_of, checks)), strict=True))
        ready = not any(problems.values())
        answer = {
            "status": "ready" if ready else "not ready",
            **{name: told or "ok" for name, told in problems.items()},
        }
        await JSONResponse(answer, status_code=200 if ready else 503)(scope, receive, send)

    async def metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.ingest.metrics.backlog.set(self.ingest.journal.backlog)
        body = generate_latest(self.counters)
        await Response(body, headers={"content-type": CONTENT_TYPE_LATEST})(scope, receive, send)

    def _clickhouse(self) -> None:
        self.ingest.store.ping()
        if self.ingest.writer.problem:  # it answers, and yet does not take what we write
            raise StoreUnavailable(self.ingest.writer.problem)


async def _problem_of(check: Callable[[], None]) -> str | None:
    """What is wrong, in a sentence; None when nothing is."""
    try:
        await asyncio.wait_for(asyncio.to_thread(check), CHECK_SECONDS)
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} s"
    except Exception as error:  # a readiness check reports every failure, whatever its kind
        return str(error)[:300]
    return None
