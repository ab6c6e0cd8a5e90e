"""uvicorn's HTTP parser, with a bound on what it keeps of a request before anybody has asked for a key.

The parser under it collects a head, a trailer or a chunk extension of any length in memory, again and again copied.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Bytes in a row that were neither body nor the end of a request. Browsers and proxies stop at 8 to 32 KiB.
LARGEST_HEAD = 128 << 10


class BoundedHttp(HttpToolsProtocol):
    """One connection. What is over the bound is 400, and the connection ends."""

    _unread = 0
    _understood = False

    def data_received(self, data: bytes) -> None:
        self._understood = False
        super().data_received(data)
        self._unread = 0 if self._understood else self._unread + len(data)
        if self._unread > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request may have {LARGEST_HEAD} bytes.")

    def on_body(self, body: bytes) -> None:
        self._understood = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._understood = True
        super().on_message_complete()
