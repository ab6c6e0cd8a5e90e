"""The way to the service over gRPC, for who has the extra `[grpc]`."""

import os
from typing import Any
from urllib.parse import urlsplit

from whileai_instrumentation.errors import UsageError
from whileai_instrumentation.outcome import ACCEPTED, Fate, Outcome, of_grpc
from whileai_instrumentation.signals import Signal
from whileai_instrumentation.transport import tell_partial_success


class GrpcTransport:
    """OTLP/gRPC with gzip. The channel is made in the process that uses it, because gRPC does not survive a fork."""

    def __init__(self, endpoint: str, api_key: str) -> None:
        try:
            import grpc
        except ImportError as problem:
            raise UsageError("protocol='grpc' needs grpcio: pip install 'whileai-platform[grpc]'") from problem
        self._grpc: Any = grpc
        self._endpoint = endpoint
        self._metadata = (("x-api-key", api_key),)
        self._channel: Any = None
        self._pid = 0

    def send(self, signal: Signal, body: bytes, seconds: float) -> Outcome:
        call = self._connected().unary_unary(signal.grpc_method)
        try:
            answer = call(body, timeout=seconds, metadata=self._metadata, compression=self._grpc.Compression.Gzip)
        except self._grpc.RpcError as problem:
            return of_grpc(problem.code().name, str(problem.details())[:200])
        except Exception as problem:
            return Outcome(Fate.LATER, f"{type(problem).__name__}: {problem}"[:200])
        tell_partial_success(signal, answer)
        return ACCEPTED

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None and self._pid == os.getpid():
            channel.close()

    def _connected(self) -> Any:
        if self._channel is None or self._pid != os.getpid():
            parts = urlsplit(self._endpoint if "://" in self._endpoint else f"http://{self._endpoint}")
            secure = parts.scheme in ("https", "grpcs")
            options = [("grpc.max_send_message_length", -1)]
            self._channel = (
                self._grpc.secure_channel(parts.netloc, self._grpc.ssl_channel_credentials(), options)
                if secure
                else self._grpc.insecure_channel(parts.netloc, options)
            )
            self._pid = os.getpid()
        return self._channel
