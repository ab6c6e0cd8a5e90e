"""Content encodings of a request body, undone within a bound: a bomb is refused when it passes the limit, not after."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, cast

from isal import isal_zlib
from isal.igzip_lib import IsalError

from whileai_collector.admission import Ticket
from whileai_ingest import Undecodable

_STEP = 1 << 20
# What is left of the input is copied at each step and each member, so a step sees only so much of it …
_SLICE = 64 << 10
# … and a body of millions of empty members is no body: each costs a decoder.
_MOST_MEMBERS = 10_000
# isal's stubs do not say that its error is an exception.
_ERRORS = cast("tuple[type[Exception], ...]", (zlib.error, IsalError))


def identity(body: bytes, _ticket: Ticket) -> bytes:
    return body


def gunzip(body: bytes, ticket: Ticket) -> bytes:
    """gzip, also of several members one after the other (RFC 1952, section 2.2)."""
    return _inflate(body, ticket, lambda: isal_zlib.decompressobj(wbits=31), "gzip")


def inflate(body: bytes, ticket: Ticket) -> bytes:
    """HTTP's deflate is the zlib format (RFC 9110, section 8.4.1.2); some clients send it raw."""
    raw = not body or body[0] & 0x0F != 8 or (body[0] << 8 | (body[1] if len(body) > 1 else 0)) % 31
    return _inflate(body, ticket, lambda: isal_zlib.decompressobj(wbits=-15 if raw else 15), "deflate")


def _inflate(body: bytes, ticket: Ticket, new: Callable[[], Any], name: str) -> bytes:
    parts: list[bytes] = []
    total = members = 0
    stream: Any = None
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


DECODERS: dict[str, Callable[[bytes, Ticket], bytes]] = {
    "": identity,
    "identity": identity,
    "gzip": gunzip,
    "x-gzip": gunzip,
    "deflate": inflate,
}
