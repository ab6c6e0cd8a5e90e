"""Content encodings of a request body, undone within a bound: a bomb is refused when it passes the limit, not after.

Several may be named in one header; they were applied in that order (RFC 9110, section 8.4), so the last goes first.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from isal import isal_zlib
from isal.igzip_lib import IsalError

from whileai_collector.admission import Ticket
from whileai_ingest import Undecodable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_STEP = 1 << 20
# What is left of the input is copied at each step and each member, so a step sees only so much of it …
_SLICE = 64 << 10
# … and a body of millions of empty members is no body: each costs a decoder.
_MOST_MEMBERS = 10_000
# Every coding of a header is a pass over up to a whole request, and nobody needs more than two.
_MOST_CODINGS = 3
# The decoder holds a window that the frame asks for. Encoders stay below 8 MiB (RFC 9659), some at their best below 32.
_WINDOW_LOG: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 25}
# isal's stubs do not say that its error is an exception.
_ERRORS = cast("tuple[type[Exception], ...]", (zlib.error, IsalError, zstd.ZstdError))


class _Stream(Protocol):
    """One member of a body. What of the input it did not read yet is in one of the two, unless it keeps it itself."""

    eof: bool
    unused_data: bytes
    unconsumed_tail: bytes

    def decompress(self, data: bytes, most: int, /) -> bytes: ...


class _ZstdFrame:
    """A zstd frame as zlib would show it. It keeps what it did not read until it is asked for more."""

    unconsumed_tail = b""

    def __init__(self) -> None:
        self._stream = zstd.ZstdDecompressor(options=_WINDOW_LOG)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, most: int, /) -> bytes:
        return self._stream.decompress(data, most)


def identity(body: bytes, _ticket: Ticket) -> bytes:
    return body


def gunzip(body: bytes, ticket: Ticket) -> bytes:
    """gzip, also of several members one after the other (RFC 1952, section 2.2)."""
    return _undone(body, ticket, lambda: isal_zlib.decompressobj(wbits=31), "gzip")


def inflate(body: bytes, ticket: Ticket) -> bytes:
    """HTTP's deflate is the zlib format (RFC 9110, section 8.4.1.2); some clients send it raw."""
    raw = not body or body[0] & 0x0F != 8 or (body[0] << 8 | (body[1] if len(body) > 1 else 0)) % 31
    return _undone(body, ticket, lambda: isal_zlib.decompressobj(wbits=-15 if raw else 15), "deflate")


def unzstd(body: bytes, ticket: Ticket) -> bytes:
    """Zstandard, also of several frames one after the other (RFC 8878, section 3.1)."""
    return _undone(body, ticket, _ZstdFrame, "zstd")


def _undone(body: bytes, ticket: Ticket, new: Callable[[], Any], name: str) -> bytes:
    parts: list[bytes] = []
    total = members = 0
    stream: _Stream | None = None
    try:
        for at in range(0, len(body), _SLICE):
            rest, part = body[at : at + _SLICE], b""
            while rest or (stream is not None and len(part) == _STEP):  # a full step may hold more back
                if stream is None:
                    stream, members = new(), members + 1
                    if members > _MOST_MEMBERS:
                        raise Undecodable(f"the {name} body has more than {_MOST_MEMBERS} members")
                part = stream.decompress(rest, _STEP)
                total += len(part)
                ticket.check(total)
                ticket.grow(len(part))
                parts.append(part)
                rest = stream.unused_data if stream.eof else stream.unconsumed_tail
                if stream.eof:
                    stream = None
    except _ERRORS as error:
        raise Undecodable(f"the body is not {name}: {error}") from None
    if stream is not None:
        raise Undecodable(f"the {name} body ends before its end")
    return b"".join(parts)


Decoder = Callable[[bytes, Ticket], bytes]

DECODERS: dict[str, Decoder] = {
    "identity": identity,
    "gzip": gunzip,
    "x-gzip": gunzip,
    "deflate": inflate,
    "zstd": unzstd,
}


def decoders(header: str) -> Sequence[Decoder] | None:
    """What undoes a `content-encoding`, in the order in which to do it; None when it names what we do not know."""
    if not header:
        return ()
    # An empty name between commas is allowed, and nothing (RFC 9110, section 5.6.1).
    names = [name for part in header.split(",") if (name := part.strip().lower())]
    if len(names) > _MOST_CODINGS or not DECODERS.keys() >= set(names):
        return None
    return [DECODERS[name] for name in reversed(names)]


def undo(body: bytes, ticket: Ticket, steps: Sequence[Decoder]) -> bytes:
    """The body as it was before it was encoded. Raises `Undecodable`, or what the ticket raises."""
    for step in steps:
        body = step(body, ticket)
    return body
