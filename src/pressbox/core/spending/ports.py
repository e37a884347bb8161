"""What paying needs of storage: the ledger of requests, and claims on work."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.core.spending.domain import Budget, Order, Outcome, PaidAnswer, PaidCall, Spent, Tries


@dataclass(frozen=True)
class Opening:
    """The number of the new line; None without room. With `held_by_others`, running requests hold what is left.

    With `month_used_up` the order itself allows no more posts this month.
    """

    number: int | None = None
    held_by_others: bool = False
    month_used_up: bool = False


class Ledger(Protocol):
    """One line for each request that was sent, written before it is sent."""

    async def find_answer(self, call: PaidCall) -> str | None:
        """The newest one."""
        ...

    async def find_tries(self, call: PaidCall, since: datetime) -> Tries:
        """Only for whoever holds the claim: what still runs then belonged to a process that died."""
        ...

    async def open(self, order: Order, budget: Budget, until: datetime, now: datetime) -> Opening:
        """Write the line of a request that is about to be sent, if the budget has room for one more.

        Running lines of the same work, and those whose `until` has passed, are lost: their processes died.
        """
        ...

    async def record(self, number: int, answer: PaidAnswer) -> None:
        """Put what was answered and what it took in place of what was expected."""
        ...

    async def close(self, number: int, outcome: Outcome, reason: str) -> None:
        """End a line without an answer. What was refused takes nothing; what was lost takes what was expected."""
        ...

    async def drop(self, number: int) -> None:
        """Remove the line of a request that was never sent."""
        ...

    async def posts_this_month(self, model: str, now: datetime) -> int:
        """The posts that a service sent since the first of the month, with what running requests may bring."""
        ...

    async def spent_today(self, now: datetime) -> Spent:
        """What was taken since midnight UTC, with what running requests may take."""
        ...


class Claims(Protocol):
    """Who does a piece of work now, so that two runs do not do the same. A claim lapses at its `until`."""

    async def take(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> frozenset[str]:
        """Take the keys that are free, lapsed or already the owner's, and return them."""
        ...

    async def take_any(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> str | None:
        """Take one of the keys that are free or lapsed; None when there is none, or when another was quicker."""
        ...

    async def release(self, keys: Sequence[str], owner: str) -> None: ...
