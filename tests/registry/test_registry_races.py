"""What may happen once happens once, and a limit holds, when many threads try at the same moment."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from whileai_registry import (
    CodeRefused,
    Dataset,
    LimitReached,
    NewDataset,
    NotAllowed,
    Registry,
    RegistryError,
    SignedUp,
    SignupRefused,
)
from whileai_registry.rates import RULES

THREADS = 8


def at_once(call: Callable[[int], object], times: int = THREADS) -> list[object]:
    """The answers of calls that start together; a refusal is an answer, anything else fails the test."""
    barrier = threading.Barrier(times)
    answers: list[object] = []
    broken: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait()
        try:
            answers.append(call(number))
        except RegistryError as refused:
            answers.append(refused)
        except BaseException as exc:
            broken.append(exc)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    assert len(answers) == times
    return answers


def kinds(answers: list[object]) -> Counter[str]:
    return Counter(type(answer).__name__ for answer in answers)


def test_the_first_start_makes_one_key(registry: Registry) -> None:
    answers = at_once(lambda _: registry.bootstrap().api_key)
    assert sum(answer is not None for answer in answers) == 1


def test_a_trial_holds_ten_datasets_and_not_one_more(registry: Registry) -> None:
    account = registry.signup.create("ada@example.com", "", client="c").account.id
    answers = at_once(lambda number: registry.datasets.create(account, NewDataset(str(number))), times=14)
    assert kinds(answers) == {Dataset.__name__: 10, LimitReached.__name__: 4}


def test_two_finalizes_at_once_give_one_answer(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    answers = at_once(lambda n: registry.datasets.finalize(account, made.id, rows=n, size_bytes=n, files=[str(n)]))
    assert all(answer == answers[0] for answer in answers)
    assert isinstance(answers[0], Dataset)
    assert answers[0].status == "ready"


def test_a_code_is_redeemed_once(registry: Registry) -> None:
    challenge = registry.email_codes.request("ada@example.com")
    answers = at_once(lambda _: registry.email_codes.redeem(challenge.challenge, challenge.code))
    assert kinds(answers) == {"str": 1, CodeRefused.__name__: THREADS - 1}


def test_wrong_codes_at_once_cannot_get_more_tries(registry: Registry) -> None:
    challenge = registry.email_codes.request("ada@example.com")
    wrong = f"{(int(challenge.code) + 1) % 10**6:06}"
    answers = at_once(lambda _: registry.email_codes.redeem(challenge.challenge, wrong))
    reasons = Counter(answer.reason for answer in answers if isinstance(answer, CodeRefused))
    assert reasons == {"wrong": 4, "spent": THREADS - 4}


def test_an_address_gets_one_account(registry: Registry) -> None:
    signed_up = at_once(lambda number: registry.signup.create("ada@example.com", "", client=str(number)))
    assert kinds(signed_up) == {SignedUp.__name__: 1, SignupRefused.__name__: THREADS - 1}
    signed_in = at_once(lambda _: registry.accounts.sign_in("bob@example.com").id)
    assert len(set(signed_in)) == 1


def test_a_rate_lets_exactly_its_number_through(registry: Registry) -> None:
    answers = at_once(lambda _: registry.rates.take("signup", "somebody").allowed, times=12)
    assert Counter(answers) == {True: RULES["signup"].limit, False: 12 - RULES["signup"].limit}


def test_no_reported_token_is_lost(registry: Registry, account: str) -> None:
    at_once(lambda _: registry.usage.add(account, input_tokens=1, output_tokens=2))
    assert registry.usage.overview(account).today.output_tokens == 2 * THREADS


def test_one_of_two_people_gets_the_device(registry: Registry, account: str, stranger: str) -> None:
    device = registry.devices.start("cli")
    people = [account, stranger]
    answers = at_once(lambda number: registry.devices.approve(people[number % 2], device.user_code))
    assert kinds(answers) == {"NoneType": 1, NotAllowed.__name__: THREADS - 1}


def test_a_device_that_collects_at_once_keeps_one_working_key(registry: Registry, account: str) -> None:
    device = registry.devices.start("cli")
    registry.devices.approve(account, device.user_code)
    at_once(lambda _: registry.devices.poll(device.device_code, device.user_code))
    assert [key.name for key in registry.keys.list_all(account)].count("cli") == 1


def test_linking_both_ways_at_once_does_not_deadlock(registry: Registry, account: str) -> None:
    pair = [registry.datasets.create(account, NewDataset(name)).id for name in ("a", "b")]
    answers = at_once(lambda n: registry.datasets.link(account, pair[n % 2], pair[1 - n % 2]))
    assert kinds(answers) == {"NoneType": THREADS}
