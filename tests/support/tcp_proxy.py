"""A TCP proxy that can refuse, hang, and cut connections in the middle of a request."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Literal

Mode = Literal["pass", "refuse", "hang", "cut"]
CUT_AFTER_BYTES = 2000


class TcpProxy:
    """Forwards to `target` on loopback; `mode` may be changed at any time and ends the connections under way."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._mode: Mode = "pass"
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def become(self, mode: Mode) -> None:
        with self._lock:
            self._mode = mode
            ended, self._open = self._open, []
        for connection in ended:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                mode = self._mode
                self._open.append(client)
            if mode == "refuse":
                client.close()
            elif mode != "hang":
                self._connect(client, CUT_AFTER_BYTES if mode == "cut" else None)

    def _connect(self, client: socket.socket, cut_after: int | None) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            client.close()
            return
        with self._lock:
            self._open.append(server)
        for source, sink, limit in ((client, server, cut_after), (server, client, None)):
            threading.Thread(target=_pump, args=(source, sink, limit), daemon=True).start()

    def __enter__(self) -> TcpProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self.become("refuse")


def _pump(source: socket.socket, sink: socket.socket, limit: int | None) -> None:
    passed = 0
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            if limit is not None and passed + len(data) > limit:
                sink.sendall(data[: limit - passed])
                break
            sink.sendall(data)
            passed += len(data)
    for connection in (source, sink):
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
