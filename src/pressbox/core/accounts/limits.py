"""Rate limits, counted in PostgreSQL so that any number of web processes share them."""

import hashlib
import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import case, delete, func, text, update
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.accounts.rows import RateLimitRow
from pressbox.core.db.database import Database
from pressbox.core.errors import RateLimitedError


@dataclass(frozen=True)
class Limit:
    """At most `count` in a window that begins with the first of them."""

    name: str
    count: int
    window: timedelta


SET_UP_BY_ADDRESS = Limit("set-up-address", 20, timedelta(minutes=10))
TOKEN_FAILURES_BY_ADDRESS = Limit("token-failures-address", 60, timedelta(minutes=5))
PROOFS_BY_USER = Limit("proofs-user", 10, timedelta(minutes=10))
PASSWORD_CHANGE_BY_USER = Limit("password-change-user", 10, timedelta(minutes=10))


class RateLimits:
    """A count has a transaction of its own: what is counted may fail and roll back, the count stays."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, limit: Limit, subject: str) -> None:
        """Count one, or raise when that is one too many."""
        now = func.clock_timestamp()
        expired = RateLimitRow.expires_at <= now
        statement = (
            insert(RateLimitRow)
            .values(key=hashed_key(limit.name, subject), count=1, expires_at=now + limit.window)
            .on_conflict_do_update(
                index_elements=[RateLimitRow.key],
                set_={
                    "count": case((expired, 1), else_=RateLimitRow.count + 1),
                    "expires_at": case((expired, now + limit.window), else_=RateLimitRow.expires_at),
                },
            )
            .returning(RateLimitRow.count, RateLimitRow.expires_at, func.clock_timestamp())
        )
        async with self._database.unit_of_work() as work:
            # A crash may forget the last few attempts; waiting for the disk at each would cost more than it protects.
            await work.session.execute(text("SET LOCAL synchronous_commit TO off"))
            used, expires_at, asked_at = (await work.session.execute(statement)).one()
        if used > limit.count:
            raise too_many_attempts(expires_at - asked_at)

    async def give_back(self, limit: Limit, subject: str) -> None:
        """Take one off again: what was counted turned out well. What others did stays counted."""
        mine = RateLimitRow.key == hashed_key(limit.name, subject)
        async with self._database.unit_of_work() as work:
            statement = update(RateLimitRow).where(mine, RateLimitRow.count > 0).values(count=RateLimitRow.count - 1)
            await work.session.execute(statement)

    async def forget(self, limit: Limit, subject: str) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(RateLimitRow).where(RateLimitRow.key == hashed_key(limit.name, subject)))

    async def prune(self, before: datetime) -> int:
        """Remove windows that ended before this moment; gives their number."""
        async with self._database.unit_of_work() as work:
            statement = delete(RateLimitRow).where(RateLimitRow.expires_at < before).returning(RateLimitRow.key)
            return len((await work.session.execute(statement)).scalars().all())


def address_subject(address: str) -> str:
    """Whom to count for an address: an IPv6 user has a whole /64 to choose from."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def hashed_key(name: str, subject: str) -> str:
    # Hashed, since people sometimes type a password where the address belongs, and to bound its length.
    return f"{name}:{hashlib.sha256(subject.encode('utf-8', 'replace')).hexdigest()}"


def too_many_attempts(rest: timedelta) -> RateLimitedError:
    seconds = max(1, round(rest.total_seconds()))
    wait = f"{seconds} seconds" if seconds < 90 else f"{round(seconds / 60)} minutes"
    return RateLimitedError(f"Too many attempts. Try again in {wait}.", retry_after=timedelta(seconds=seconds))
