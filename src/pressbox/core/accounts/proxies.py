"""Notices sign-ins through a proxy that is not trusted: everybody behind it counts as one address."""

from datetime import timedelta

from sqlalchemy import func, select

from pressbox.core.accounts.audit import Action, AuditLog, nobody
from pressbox.core.accounts.limits import Limit, RateLimits
from pressbox.core.accounts.models import Client
from pressbox.core.accounts.rows import AuditRow
from pressbox.core.db.database import Database
from pressbox.core.errors import RateLimitedError
from pressbox.core.health import HealthState, PartHealth

ONCE_A_DAY = Limit("untrusted-proxy", 1, timedelta(days=1))
RECENT = timedelta(days=7)


async def note_untrusted_proxy(database: Database, peer: str) -> None:
    """Write it into the audit log, once a day for each."""
    try:
        await RateLimits(database).count(ONCE_A_DAY, peer)
    except RateLimitedError:
        return
    await AuditLog(database).record(Action.UNTRUSTED_PROXY, nobody(Client(peer)))


async def check_proxies(database: Database) -> PartHealth:
    seen = AuditRow.action == Action.UNTRUSTED_PROXY, AuditRow.at > func.now() - RECENT
    async with database.unit_of_work() as work:
        peers = (await work.session.scalars(select(AuditRow.address).where(*seen).distinct())).all()
    if not peers:
        return PartHealth("proxies", HealthState.OK, "No sign-in came through a proxy that is not trusted.")
    named = ",".join(sorted(peers))
    return PartHealth(
        "proxies",
        HealthState.WARNING,
        f"Sign-ins come through {named}, which is not trusted: everybody behind it counts as one address.",
        f"If it is your proxy, set PRESSBOX_WEB_TRUSTED_PROXIES={named}; docs/operations.md has examples.",
    )
