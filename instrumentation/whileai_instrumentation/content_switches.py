"""The environment variables by which instrumentations are told whether to record content, as a table.

They are read when an instrumentation is imported, switched on or called, so they are set before any of it.
"""

import os
from collections.abc import Mapping, MutableMapping

OPT_IN = "OTEL_SEMCONV_STABILITY_OPT_IN"
LATEST = "gen_ai_latest_experimental"

# variable -> (with content, without)
SWITCHES: Mapping[str, tuple[str, str]] = {
    # OpenTelemetry's own: on the span, because it arrives with it. In new packages `true` gives nothing.
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": ("span_only", "no_content"),
    "TRACELOOP_TRACE_CONTENT": ("true", "false"),  # OpenLLMetry
    "OPENINFERENCE_HIDE_INPUTS": ("false", "true"),
    "OPENINFERENCE_HIDE_OUTPUTS": ("false", "true"),
    "OPENINFERENCE_HIDE_LLM_INVOCATION_PARAMETERS": ("false", "true"),
    "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": ("true", "false"),  # Google ADK
    "ENABLE_INSTRUMENTATION": ("true", "true"),  # Microsoft Agent Framework
    "ENABLE_SENSITIVE_DATA": ("true", "false"),
}


def set_content_switches(capture_content: bool, environment: MutableMapping[str, str] = os.environ) -> None:
    """Set the variables. What the user has set stands, unless content is to be left out: nothing overrules that."""
    for name, (on, off) in SWITCHES.items():
        if capture_content:
            environment.setdefault(name, on)
        else:
            environment[name] = off
    asked = [word.strip() for word in environment.get(OPT_IN, "").split(",") if word.strip()]
    if not any(word.startswith("gen_ai") for word in asked):
        environment[OPT_IN] = ",".join([*asked, LATEST])
