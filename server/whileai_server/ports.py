"""Listening sockets, taken before anything else starts, so that a taken port costs nothing and is said in one
sentence."""

from __future__ import annotations

import contextlib
import socket

import psutil

from whileai_server.errors import StartError


def listen(host: str, port: int) -> socket.socket:
    """A listening TCP socket. Raises `StartError` naming the holder of a taken port."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise StartError(f"the host {host!r} is unknown: {error.strerror}") from None
    listener = socket.socket(family, kind, proto)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise taken(host, port, error) from None
    listener.setblocking(False)
    return listener


def taken(host: str, port: int, error: OSError | RuntimeError) -> StartError:
    """The sentence for a port that cannot be listened on."""
    holder = _holder(port)
    if holder:
        return StartError(f"port {port} on {host} is in use by {holder}; stop it, or choose another port")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is in use or not allowed"
    return StartError(f"cannot listen on {host}:{port}: {reason}")


def _holder(port: int) -> str | None:
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr[1] == port
            if listens and connection.pid:
                with contextlib.suppress(psutil.Error):
                    return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
                return f"process {connection.pid}"
    return None


def shown(host: str, port: int) -> str:
    """`host:port` as a URL wants it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
