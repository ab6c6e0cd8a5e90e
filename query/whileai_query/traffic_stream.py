"""`GET /traffic/stream`: the traffic as server-sent events, sent when it changed, so that a page can stand open.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from whileai_query.answers import encode_json

LOOK_SECONDS = 2.0
# A comment now and then keeps proxies from closing a silent stream.
SILENT_LOOKS = 7
_COMMENT = b": still here\n\n"


async def events(look: Callable[[], Any], pause: float = LOOK_SECONDS) -> AsyncIterator[bytes]:
    """What `look` says, whenever it says something new. Ends when the reader goes away."""
    last = b""
    silent = 0
    while True:
        now = encode_json(await asyncio.to_thread(look))
        if now != last:
            last, silent = now, 0
            yield b"data: " + now + b"\n\n"
        elif (silent := silent + 1) >= SILENT_LOOKS:
            silent = 0
            yield _COMMENT
        await asyncio.sleep(pause)
