"""Every setting of the service, from flags and environment, in one place."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from whileai_server.errors import StartError

MIB = 1 << 20


def _empty_is_unset(value: Any) -> Any:
    return None if value == "" else value


OptionalText = Annotated[str | None, BeforeValidator(_empty_is_unset)]
OptionalPath = Annotated[Path | None, BeforeValidator(_empty_is_unset)]


class Role(StrEnum):
    """What one process does. Several collectors may share a ClickHouse server; each keeps a journal of its own."""

    ALL = "all"
    COLLECTOR = "collector"
    QUERY = "query"


class Settings(BaseSettings):
    """Read from `WHILEAI_<NAME>`; `whileai serve` overrides what its flags name."""

    model_config = SettingsConfigDict(env_prefix="WHILEAI_", extra="ignore", env_ignore_empty=True)

    home: Path = Path("~/.whileai")
    data_dir: OptionalPath = None
    host: str = "127.0.0.1"
    http_port: int = Field(4318, ge=0, le=65535)
    grpc_port: int = Field(4317, ge=0, le=65535)
    public_url: OptionalText = None
    role: Role = Role.ALL

    clickhouse_url: OptionalText = None
    clickhouse_cluster: str = ""
    clickhouse_replicated: bool = False
    records_url: OptionalText = None
    objects_url: OptionalText = None

    bootstrap_key: OptionalText = None
    secret_key: OptionalText = None
    smtp_url: OptionalText = None

    max_request_bytes: int = Field(64 * MIB, gt=0)
    max_in_flight_bytes: int = Field(256 * MIB, gt=0)
    journal_max_bytes: int = Field(4096 * MIB, gt=0)
    run_quiet_seconds: float = Field(60, gt=0)
    retention_days: int | None = Field(None, ge=1)

    grpc_tls_certificate: OptionalPath = None
    grpc_tls_key: OptionalPath = None
    log_level: str = "info"

    @property
    def home_folder(self) -> Path:
        return self.home.expanduser()

    @property
    def data_folder(self) -> Path:
        folder = self.data_dir.expanduser() if self.data_dir else self.home_folder / "data"
        return folder.absolute()

    @property
    def store_url(self) -> str:
        return self.clickhouse_url or f"chdb://{self.data_folder / 'clickhouse'}"

    @property
    def registry_url(self) -> str:
        return self.records_url or f"sqlite:///{self.data_folder / 'records.db'}"

    @property
    def object_store_url(self) -> str:
        return self.objects_url or f"file://{self.data_folder / 'objects'}"


def load(**flags: Any) -> Settings:
    """Settings with these flags on top. Raises `StartError` that names the first wrong one."""
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper()
        raise StartError(f"the setting WHILEAI_{name} is wrong: {first['msg']} (got {first['input']!r})") from None
