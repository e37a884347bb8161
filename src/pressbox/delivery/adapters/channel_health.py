"""Counts failures of channels and addresses, inside a unit of work: one that keeps failing is broken."""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.delivery.domain.attempts import BROKEN_AFTER, PROBE_AFTER, DeliveryState


class Recorded(Protocol):
    """What became of one try."""

    @property
    def channel_key(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str: ...


_HEALTH = """
    UPDATE soonish.{table} AS place
    SET failures = CASE WHEN result.worked THEN 0 ELSE place.failures + result.failed END,
        broken_at = CASE WHEN result.worked THEN NULL
            WHEN place.failures + result.failed >= :limit THEN coalesce(place.broken_at, now())
            ELSE place.broken_at END,
        probe_at = CASE WHEN result.worked THEN NULL
            WHEN place.failures + result.failed >= :limit THEN now() + CAST(:probe_after AS interval)
            ELSE place.probe_at END{more}
    FROM (
        SELECT place.id, result.worked, result.failed, result.error
        FROM unnest(CAST(:ids AS bigint[]), CAST(:worked AS boolean[]), CAST(:failed AS integer[]),
            CAST(:errors AS text[])) AS result (id, worked, failed, error)
        JOIN soonish.{table} AS place ON place.id = result.id
        WHERE result.failed > 0 OR place.failures > 0 OR place.broken_at IS NOT NULL
        -- Rounds that end side by side take the rows in one order.
        ORDER BY place.id FOR UPDATE OF place
    ) AS result
    WHERE place.id = result.id
"""
# Once a channel has worked, its owner is told again when it breaks again.
_LAST_ERROR = (
    ", last_error = CASE WHEN result.worked THEN '' ELSE result.error END"
    ", owner_told_at = CASE WHEN result.worked THEN NULL ELSE place.owner_told_at END"
)
_CHANNEL_HEALTH = text(_HEALTH.format(table="channels", more=_LAST_ERROR))
_CONTACT_HEALTH = text(_HEALTH.format(table="contacts", more=""))


async def update_health(session: AsyncSession, recorded: Sequence[Recorded]) -> None:
    """A channel that keeps failing is broken, one success resets it."""
    for prefix, statement in (("channel:", _CHANNEL_HEALTH), ("contact:", _CONTACT_HEALTH)):
        outcomes: dict[int, tuple[bool, int, str]] = {}
        for item in recorded:
            # A place that never answers is as doubtful as one that refuses.
            counts = item.state in (DeliveryState.SENT, DeliveryState.FAILED, DeliveryState.UNCERTAIN)
            if counts and item.channel_key.startswith(prefix):
                place = int(item.channel_key.removeprefix(prefix))
                worked, failed, error = outcomes.get(place, (False, 0, ""))
                sent = item.state == DeliveryState.SENT
                outcomes[place] = (worked or sent, failed + (not sent), error or item.reason)
        if outcomes:
            worked_of, failed_of, errors = zip(*outcomes.values(), strict=True)
            await session.execute(
                statement,
                {
                    "ids": list(outcomes),
                    "worked": list(worked_of),
                    "failed": list(failed_of),
                    "errors": list(errors),
                    "limit": BROKEN_AFTER,
                    "probe_after": PROBE_AFTER,
                },
            )
