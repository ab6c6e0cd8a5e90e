"""The edge: OTLP receivers over HTTP and gRPC, authentication, admission. What gets in is handed to
`whileai_ingest`."""

from whileai_collector.admission import Admission
from whileai_collector.grpc import bind, create_grpc_server
from whileai_collector.http import OtlpHttp
from whileai_collector.signals import BY_PATH

__all__ = ["BY_PATH", "Admission", "OtlpHttp", "bind", "create_grpc_server"]
