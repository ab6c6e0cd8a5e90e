"""Behind a proxy: links carry the address that clients use, and a limit counts the client, not the proxy."""

from __future__ import annotations

from pathlib import Path

import httpx
from support.service import Service

TO = {"host": "while.example.com", "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7"}


def test_links_use_the_address_by_which_a_request_came(tmp_path: Path) -> None:
    with Service(tmp_path) as service, service.client() as client:
        made = client.post("/datasets", json={"name": "a"}, headers=TO).raise_for_status().json()
        assert made["uploadUrl"].startswith(f"https://while.example.com/datasets/{made['datasetId']}/file?grant=")
        code = httpx.post(f"{service.url}/device/code", json={}, headers=TO).raise_for_status().json()
        assert code["verification_uri_complete"].startswith("https://while.example.com/device?code=")


def test_a_public_address_wins_over_the_requests_own(tmp_path: Path) -> None:
    public = {"WHILEAI_PUBLIC_URL": "https://example.com/while/"}
    with Service(tmp_path, public) as service, service.client() as client:
        made = client.post("/datasets", json={"name": "a"}, headers=TO).raise_for_status().json()
        assert made["uploadUrl"].startswith(f"https://example.com/while/datasets/{made['datasetId']}/file?grant=")


def test_sign_ups_are_limited_by_the_client_behind_the_proxy(tmp_path: Path) -> None:
    with Service(tmp_path) as service:

        def sign_up(number: int, client: str) -> int:
            body = {"email": f"someone{number}@example.com"}
            return httpx.post(f"{service.url}/signup", json=body, headers={"x-forwarded-for": client}).status_code

        assert [sign_up(number, "203.0.113.7") for number in range(6)] == [201] * 5 + [429]
        assert sign_up(7, "203.0.113.8") == 201
