"""While as an OpenTelemetry distribution, so that `opentelemetry-instrument python agent.py` needs no line of code.

Without a key it steps aside, and OpenTelemetry sets itself up as it would have without While.
"""

from typing import Any

from opentelemetry.instrumentation.distro import BaseDistro  # type: ignore[attr-defined]  # it declares itself untyped

from whileai import agent_process


class WhileDistro(BaseDistro):  # type: ignore[misc]  # as above
    """Switches instrumentors on, unless `instrument` has."""

    def _configure(self, **kwargs: Any) -> None:
        """There is nothing to prepare: the configurator does it all."""

    def load_instrumentor(self, entry_point: Any, **kwargs: Any) -> None:
        if not WhileConfigurator.took_over:
            super().load_instrumentor(entry_point, **kwargs)


class WhileConfigurator:
    """Calls `whileai.instrument`."""

    took_over = False

    def configure(self, **kwargs: Any) -> None:
        if agent_process.has_key():
            agent_process.instrument()
            type(self).took_over = True
            return
        from opentelemetry.sdk._configuration import _OTelSDKConfigurator

        stock: Any = _OTelSDKConfigurator
        stock().configure(**kwargs)
