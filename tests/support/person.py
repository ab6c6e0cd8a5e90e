"""A person in a browser without the browser: the forms of the pages, with their cookies and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Person:
    """Signed in or not; every form is sent as the page has it."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def sign_in_with_key(self, key: str) -> None:
        answer = self.client.post("/sign-in", data={"key": key, "then": "/"})
        assert answer.status_code == 303, answer.text

    def ask_for_code(self, email: str) -> None:
        answer = self.client.post("/sign-in/code", data={"email": email, "then": "/"})
        assert answer.status_code == 200, answer.text

    def redeem(self, email: str, code: str) -> None:
        answer = self.client.post("/sign-in/redeem", data={"email": email, "code": code, "then": "/"})
        assert answer.status_code == 303, answer.text

    def decide(self, link: str, decision: str) -> None:
        """Open the link of a device login, compare, and press a button."""
        page = self.client.get(link)
        code = re.search(r'name="code" value="([^"]+)"', page.text)
        assert code is not None, page.text
        answer = self.submit("/device", page.text, code=code[1], decision=decision)
        assert answer.status_code == 200, answer.text

    def session_token(self) -> str:
        """A session for a program, as the account page shows it once."""
        page = self.client.get("/ui/account").text
        answer = self.submit("/ui/account/session-token", page)
        token = re.search(r"zp_ss_[\w-]+", answer.text)
        assert token is not None, answer.text
        return token[0]

    def submit(self, action: str, page: str, **fields: str) -> httpx.Response:
        token = _CSRF.search(page)
        assert token is not None, page
        return self.client.post(action, data={"csrf": token[1], **fields})


@contextmanager
def person_at(url: str) -> Iterator[Person]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield Person(client)
