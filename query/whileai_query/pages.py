"""The few HTML pages of signing in: one frame, plain forms, no script. Everything shown is escaped."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · While</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; padding: 0 1rem; color: #1a1a1a }}
input, button {{ font: inherit; padding: .5rem .75rem; width: 100%; box-sizing: border-box; margin: .25rem 0 }}
button {{ cursor: pointer }}
.problem {{ color: #a40000 }}
code {{ font-size: 1.4rem; letter-spacing: .1rem }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""
# The pages hold no script and load nothing, and nobody may frame the button that gives out a key.
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


def page(title: str, *parts: str, status: int = 200) -> HTMLResponse:
    """A page of parts that are HTML already."""
    return HTMLResponse(_FRAME.format(title=escape(title), body="\n".join(parts)), status, _HEADERS)


def text(words: str) -> str:
    return f"<p>{escape(words)}</p>"


def problem(words: str) -> str:
    return f'<p class="problem" role="alert">{escape(words)}</p>'


def code(words: str) -> str:
    return f"<p><code>{escape(words)}</code></p>"


def form(action: str, button: str, *fields: str) -> str:
    inside = "".join(fields)
    return f'<form method="post" action="{escape(action)}">{inside}<button>{escape(button)}</button></form>'


def hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'


def field(label: str, name: str, kind: str = "text", complete: str = "off") -> str:
    shown = escape(label)
    return (
        f'<label>{shown}<input name="{escape(name)}" type="{escape(kind)}" autocomplete="{escape(complete)}" required>'
        "</label>"
    )
