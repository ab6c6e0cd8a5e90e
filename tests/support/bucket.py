"""An S3 of our own: moto's server on the loopback, with one bucket, and the environment that leads there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

NAME = "sets"


@dataclass(frozen=True)
class Bucket:
    endpoint: str

    @property
    def url(self) -> str:
        return f"s3://{NAME}/files"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to find and enter it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "tests",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def list_keys(self) -> list[str]:
        """Every whole object."""
        return [item["Key"] for item in self._client().list_objects_v2(Bucket=NAME).get("Contents", ())]

    def unfinished(self) -> int:
        """Uploads that were begun, and neither finished nor given up."""
        return len(self._client().list_multipart_uploads(Bucket=NAME).get("Uploads", ()))

    def create(self) -> None:
        self._client().create_bucket(Bucket=NAME)

    def _client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="tests",
            aws_secret_access_key="tests",
        )


@contextmanager
def bucket() -> Iterator[Bucket]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    made = Bucket(f"http://{host}:{port}")
    made.create()
    try:
        yield made
    finally:
        server.stop()
