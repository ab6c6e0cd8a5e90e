"""What the API stands on, handed in by whoever composes the service. No store of its own, no global."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from whileai_ingest import Ingest
from whileai_query.errors import NotNow
from whileai_query.jobs import Jobs
from whileai_query.objects import Objects
from whileai_registry import Registry, Signer, Vault

# A writer that is this far behind has a reason that waiting longer will not cure.
SETTLE_SECONDS = 30.0
HUGGING_FACE = "https://huggingface.co"


@dataclass(frozen=True, slots=True)
class Services:
    """The stores of one process, and where it finds others.

    `public_url` is how clients reach it; without one, the request's own origin serves. `smtp_url` is what mails
    one-time codes; without one they go to the log. `hub_url` is where the Hugging Face Hub is.
    """

    ingest: Ingest
    registry: Registry
    objects: Objects
    signer: Signer
    vault: Vault
    public_url: str | None = None
    run_quiet_seconds: float = 60
    clock: Callable[[], int] = time.time_ns
    smtp_url: str | None = None
    hub_url: str = HUGGING_FACE
    jobs: Jobs = field(default_factory=Jobs)

    def now(self) -> int:
        """Nanoseconds since 1970, never before an arrival that was given out."""
        return max(self.clock(), self.ingest.journal.now())

    def settle(self) -> None:
        """Read your writes: wait until what was acknowledged can be read. Raises `NotNow`."""
        if not self.ingest.settle(SETTLE_SECONDS):
            problem = self.ingest.writer.problem
            raise NotNow(f"what was sent is not readable yet: {problem or 'the writer is behind'}", 5)


def services_of(request: Request) -> Services:
    return cast(Services, request.app.state.services)


ServicesDep = Annotated[Services, Depends(services_of)]
