"""What is tried again, what is not, and what an error says."""

import pytest
from client.recording_service import Answer, Service

import whileai.simulations as wai
from whileai import environment, transport
from whileai.errors import PlatformError


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_read_is_tried_again_while_the_service_is_busy(platform: Service, status: int) -> None:
    busy = Answer(status, {"error": "busy"}, {"retry-after": "1"})
    platform.answers("GET", "/datasets", busy, busy, {"datasets": []})
    assert wai.datasets() == {"datasets": []}
    assert len(platform.requests) == 3


def test_the_service_is_not_asked_for_ever(platform: Service) -> None:
    platform.answers("GET", "/datasets", Answer(503, {"error": "full"}))
    with pytest.raises(PlatformError, match=r"GET http://127\.0\.0\.1:\d+/datasets answered 503: full") as caught:
        wai.datasets()
    assert caught.value.status == 503
    assert len(platform.requests) == transport.ATTEMPTS


def test_a_cut_is_never_made_twice(platform: Service) -> None:
    platform.answers("POST", "/datasets/cut", Answer(503, {"error": "busy"}))
    with pytest.raises(PlatformError):
        wai.cut()
    assert len(platform.requests) == 1


def test_a_broken_connection_is_tried_again_for_what_may_be_repeated(platform: Service) -> None:
    broken = Answer(200, {"applied": 1}, cut_at=3)
    platform.answers("POST", "/v1/scores", broken, {"applied": 1})
    assert wai.send_score("ab", 1.0) == {"applied": 1}
    platform.answers("POST", "/datasets/cut", Answer(200, {"made": []}, cut_at=3))
    with pytest.raises(PlatformError, match="failed"):
        wai.cut()


def test_the_service_says_how_long_to_wait() -> None:
    assert transport.pause(1, "7") == 7.0
    assert transport.pause(1, "100000") == transport.LONGEST_PAUSE
    assert 0 < transport.pause(1, "Wed, 21 Oct 2026 07:28:00 GMT") < 1


def test_pauses_grow() -> None:
    assert max(transport.pause(1, None) for _ in range(50)) < min(transport.pause(4, None) for _ in range(50))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": "no such agent"}, "no such agent"),
        ({"code": 3, "message": "span without an id"}, "span without an id"),
        ({"error": {"message": "nested"}}, "nested"),
        (b"<html>gateway</html>", "<html>gateway</html>"),
        (b"", "Bad Request"),
    ],
)
def test_the_reason_of_the_service_is_shown(platform: Service, body: object, said: str) -> None:
    platform.answers("GET", "/agents", Answer(400, body))
    with pytest.raises(PlatformError) as caught:
        wai.agents()
    assert str(caught.value).endswith(f"answered 400: {said}")


def test_a_refused_key_is_named_by_its_source_not_its_value(platform: Service) -> None:
    platform.answers("GET", "/agents", Answer(401, {"error": "unknown key"}))
    with pytest.raises(
        PlatformError, match=r"unknown key\. The key came from WHILEAI_API_KEY; `whileai status`"
    ) as caught:
        wai.agents()
    assert "zp_environment" not in str(caught.value)


def test_an_absent_service_is_said_with_the_command_that_starts_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHILEAI_API_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("WHILEAI_API_KEY", "zp_x")
    with pytest.raises(PlatformError, match=r"nothing answers at http://127\.0\.0\.1:1 .*`whileai serve`") as caught:
        wai.agents()
    assert caught.value.status == 0


@pytest.mark.parametrize("url", ["ftp://127.0.0.1:1", "127.0.0.1:4318"])
def test_a_base_url_that_is_none_is_refused_at_once(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("WHILEAI_API_URL", url)
    with pytest.raises(PlatformError):
        wai.agents(api_key="zp_x")


def test_a_page_in_place_of_an_answer_is_said(platform: Service) -> None:
    platform.answers("GET", "/agents", Answer(200, b"<html>", content_type="text/html"))
    with pytest.raises(PlatformError, match="without a JSON object; check that the URL"):
        wai.agents()


def test_an_empty_answer_is_an_empty_object(platform: Service) -> None:
    platform.answers("DELETE", "/datasets/ds_1", Answer(204, b""))
    assert wai.delete_dataset("ds_1") == {}


def test_a_proxy_is_not_asked_for_this_machine(platform: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    transport.close()
    platform.answers("GET", "/agents", {"agents": [{"name": "bot"}]})
    assert wai.agents() == [{"name": "bot"}]


def test_one_variable_serves_for_all_three_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {environment.api_url(), environment.platform_url(), environment.trace_url()} == {"http://127.0.0.1:4318"}
    monkeypatch.setenv("WHILEAI_API_URL", "http://one.example/prefix/")
    assert {environment.api_url(), environment.platform_url(), environment.trace_url()} == {"http://one.example/prefix"}
    monkeypatch.setenv("ZEROPROOF_TRACE_URL", "http://two.example")
    assert environment.trace_url() == "http://two.example"
    assert environment.platform_url() == "http://one.example/prefix"
