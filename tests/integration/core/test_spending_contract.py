"""What every ledger and every book of claims does: the one in memory, on which other tests rely, is as the real one."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.spending.domain import Budget, Order, Outcome, PaidAnswer, PaidCall, Spent, Tries
from pressbox.core.spending.ledger import SqlClaims, SqlLedger
from pressbox.core.spending.ports import Claims, Ledger, Opening
from tests.fakes.spending import PLENTY, FakeClaims, FakeLedger

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
LEASE = timedelta(minutes=15)
KINDS = ["memory", "postgres"]


@pytest.fixture(params=KINDS)
def ledger(request: pytest.FixtureRequest) -> Ledger:
    return FakeLedger() if request.param == "memory" else SqlLedger(request.getfixturevalue("database"))


@pytest.fixture(params=KINDS)
def claims(request: pytest.FixtureRequest) -> Claims:
    return FakeClaims() if request.param == "memory" else SqlClaims(request.getfixturevalue("database"))


def call(number: int = 1, model: str = "model") -> PaidCall:
    return PaidCall(f"hash {number}", "1", model, "answer")


def order(number: int = 1) -> Order:
    return Order(call(number), 60, 40, 0.5)


async def opened(ledger: Ledger, wanted: Order, budget: Budget = PLENTY, now: datetime = NOW) -> int:
    number = (await ledger.open(wanted, budget, now + LEASE, now)).number
    assert number is not None
    return number


async def test_what_runs_counts_as_expected_and_what_is_answered_as_it_took(ledger: Ledger) -> None:
    number = await opened(ledger, order())
    assert await ledger.spent_today(NOW) == Spent(100, 0.5)
    await ledger.record(number, PaidAnswer("said", 7, 3, 0.25))
    assert await ledger.spent_today(NOW) == Spent(10, 0.25)
    assert await ledger.find_answer(call()) == "said"
    assert await ledger.find_answer(call(2)) is None


async def test_the_newest_answer_is_given(ledger: Ledger) -> None:
    for text in ("first", "second"):
        await ledger.record(await opened(ledger, order()), PaidAnswer(text))
    assert await ledger.find_answer(call()) == "second"


async def test_what_was_refused_takes_nothing_and_what_was_lost_takes_all_that_was_expected(ledger: Ledger) -> None:
    await ledger.close(await opened(ledger, order(1)), Outcome.REFUSED, "no")
    assert await ledger.spent_today(NOW) == Spent(0, 0.0)
    await ledger.close(await opened(ledger, order(2)), Outcome.LOST, "gone")
    assert await ledger.spent_today(NOW) == Spent(100, 0.5)


async def test_what_was_never_sent_is_dropped(ledger: Ledger) -> None:
    await ledger.drop(await opened(ledger, order()))
    assert await ledger.spent_today(NOW) == Spent(0, 0.0)
    assert await ledger.find_tries(call(), NOW - LEASE) == Tries()


async def test_a_budget_without_room_says_whether_running_requests_hold_it(ledger: Ledger) -> None:
    number = await opened(ledger, order(1), Budget(100))
    assert await ledger.open(order(2), Budget(100), NOW + LEASE, NOW) == Opening(held_by_others=True)
    await ledger.record(number, PaidAnswer("said", 60, 40))
    assert await ledger.open(order(2), Budget(100), NOW + LEASE, NOW) == Opening()
    assert await ledger.open(order(2), Budget(1000, 0.0), NOW + LEASE, NOW) == Opening()


async def test_a_new_day_is_a_new_budget(ledger: Ledger) -> None:
    await ledger.record(await opened(ledger, order(1)), PaidAnswer("said", 100))
    tomorrow = NOW + timedelta(days=1)
    assert await ledger.spent_today(tomorrow) == Spent(0, 0.0)
    await opened(ledger, order(2), Budget(100), tomorrow)


async def test_what_ran_when_its_work_is_ordered_again_or_its_lease_ends_is_lost(ledger: Ledger) -> None:
    await opened(ledger, order(1))
    await opened(ledger, order(1))
    assert await ledger.spent_today(NOW) == Spent(200, 1.0)
    late = NOW + LEASE
    assert await ledger.open(order(2), Budget(200), late + LEASE, late) == Opening(), "paid, and not held"


async def test_tries_in_vain_are_counted_with_the_last_reason_and_whether_others_are_answered(ledger: Ledger) -> None:
    await ledger.record(await opened(ledger, order(2)), PaidAnswer("said"))
    later = NOW + timedelta(minutes=1)
    await ledger.close(await opened(ledger, order(1), now=later), Outcome.LOST, "gone")
    assert await ledger.find_tries(call(1), NOW) == Tries(1, False, "gone")
    await ledger.record(await opened(ledger, Order(call(3, "another")), now=later), PaidAnswer("said"))
    assert not (await ledger.find_tries(call(1), NOW)).answers_others, "another model"
    await ledger.record(await opened(ledger, order(1), now=later), PaidAnswer("", usable=False, reason="nonsense"))
    assert await ledger.find_tries(call(1), NOW) == Tries(2, True, "nonsense")
    assert await ledger.find_tries(call(1), later + LEASE) == Tries()
    assert await ledger.find_tries(call(4), NOW) == Tries()


async def test_tries_that_died_with_a_process_of_ours_are_told_apart(ledger: Ledger) -> None:
    await opened(ledger, order(1))
    assert (await ledger.find_tries(call(1), NOW)).died == 1, "it still runs, and its claim is free"
    await ledger.close(await opened(ledger, order(1)), Outcome.LOST, "gone")
    tries = await ledger.find_tries(call(1), NOW)
    assert (tries.count, tries.died) == (2, 1)


async def test_what_was_refused_is_no_try(ledger: Ledger) -> None:
    await ledger.close(await opened(ledger, order()), Outcome.REFUSED, "no")
    assert await ledger.find_tries(call(), NOW) == Tries()


async def test_posts_are_counted_by_service_and_month_as_expected_and_then_as_they_came(ledger: Ledger) -> None:
    wanted = Order(call(1), posts=6, posts_per_month=10)
    number = await opened(ledger, wanted)
    other = Order(call(2), posts=6, posts_per_month=10)
    assert await ledger.open(other, PLENTY, NOW + LEASE, NOW) == Opening(month_used_up=True)
    await opened(ledger, Order(call(2, "another"), posts=6, posts_per_month=10))
    await ledger.record(number, PaidAnswer("said", posts=2))
    assert await ledger.posts_this_month("model", NOW) == 2
    await opened(ledger, other)
    assert await ledger.posts_this_month("model", NOW) == 8
    assert await ledger.posts_this_month("model", NOW + timedelta(days=31)) == 0


async def test_a_claim_is_its_owners_until_it_is_released_or_lapses(claims: Claims) -> None:
    assert await claims.take(["a", "b"], "one", NOW + LEASE, NOW) == {"a", "b"}
    assert await claims.take(["b", "c"], "two", NOW + LEASE, NOW) == {"c"}
    assert await claims.take(["a"], "one", NOW + 2 * LEASE, NOW) == {"a"}, "renewed"
    await claims.release(["a"], "two")
    assert await claims.take(["a"], "two", NOW + LEASE, NOW) == set(), "not theirs to release"
    await claims.release(["b"], "one")
    assert await claims.take(["b"], "two", NOW + LEASE, NOW) == {"b"}
    assert await claims.take(["a"], "two", NOW + 3 * LEASE, NOW + LEASE) == set(), "it was renewed"
    assert await claims.take(["a"], "two", NOW + 3 * LEASE, NOW + 2 * LEASE) == {"a"}, "lapsed"
    assert await claims.take([], "two", NOW, NOW) == set()


async def test_one_of_several_claims_is_taken_until_none_is_free(claims: Claims) -> None:
    keys = ["a", "b"]
    taken = {await claims.take_any(keys, owner, NOW + LEASE, NOW) for owner in ("one", "two")}
    assert taken == {"a", "b"}
    assert await claims.take_any(keys, "three", NOW + LEASE, NOW) is None
    assert await claims.take_any(keys, "one", NOW + LEASE, NOW) is None, "one claim for each request, also of an owner"
    assert await claims.take_any(keys, "three", NOW + 2 * LEASE, NOW + LEASE) in keys, "lapsed"
    assert await claims.take_any([], "three", NOW + LEASE, NOW) is None
