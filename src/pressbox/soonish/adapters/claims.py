"""Claims on deliveries, inside a unit of work: who may try a row, until when, and whose result counts.

Every time is that of the database. A claim that has lapsed is still its round's until somebody else takes it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.delivery.adapters.address_book import row_ids
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.delivery.ports import Claim, DeliveryResult
from pressbox.soonish.domain.delivery import ORDER_PATIENCE, PERSONAL, SkipReason
from pressbox.soonish.ports import DueDelivery

# The reason of a try that was under way when its message was stopped. Its result still counts when it arrives.
CUT_OFF = "stopped while it was being sent"
# After such a result another try of the same message is one too many.
_MAY_HAVE_ARRIVED = (DeliveryState.SENT, DeliveryState.UNCERTAIN)

# Earlier messages of the event that have not got through to the same place yet: it hears of things in their order, and
# nobody else waits for it. Who asked to be reminded waits for nothing.
_EARLIER = """
    FROM soonish.deliveries AS earlier
    WHERE earlier.subscription_id = delivery.subscription_id AND earlier.channel_key = delivery.channel_key
      AND earlier.notification_id < delivery.notification_id AND earlier.state = 'pending'
      AND earlier.created_at > clock_timestamp() - CAST(:patience AS interval)
      AND NOT earlier.cause = ANY(CAST(:personal AS text[])) AND NOT delivery.cause = ANY(CAST(:personal AS text[]))
"""
_ORDER: Mapping[str, object] = {"patience": ORDER_PATIENCE, "personal": [cause.value for cause in PERSONAL]}

# Materialized: a plan that asks for the rows twice would lock others each time.
_CLAIM_ROWS = """
    WITH due AS MATERIALIZED (
        SELECT delivery.id FROM soonish.deliveries AS delivery
        WHERE delivery.notification_id = :id AND delivery.state = 'pending'
          AND (delivery.next_try_at IS NULL OR delivery.next_try_at <= clock_timestamp())
          AND (delivery.claimed_until IS NULL OR delivery.claimed_until <= clock_timestamp())
          AND NOT EXISTS (SELECT {earlier})
        ORDER BY delivery.tries, delivery.id LIMIT :limit FOR UPDATE OF delivery SKIP LOCKED
    )
    UPDATE soonish.deliveries AS delivery
    SET claimed_by = :owner, claimed_until = clock_timestamp() + CAST(:lease AS interval)
    FROM due WHERE delivery.id = due.id
    RETURNING delivery.id, delivery.subscription_id, delivery.channel_key, delivery.tries
"""
_CLAIM = text(_CLAIM_ROWS.format(earlier=_EARLIER))

# Whoever left or muted the event after the message was accepted gets nothing more of it. A try that was cut off may
# have arrived.
_SKIP_UNWANTED = text("""
    UPDATE soonish.deliveries AS delivery
    SET state = CASE WHEN delivery.trying_since IS NULL THEN 'skipped' ELSE 'uncertain' END,
        reason = CASE WHEN delivery.trying_since IS NOT NULL THEN :cut_off
            WHEN person.state = 'muted' THEN :muted ELSE :left END,
        next_try_at = NULL, trying_since = NULL, claimed_by = NULL, claimed_until = NULL,
        finished_at = clock_timestamp()
    FROM soonish.deliveries AS mine LEFT JOIN soonish.subscriptions AS person ON person.id = mine.subscription_id
    WHERE mine.id = ANY(CAST(:ids AS bigint[])) AND person.state IS DISTINCT FROM 'active' AND delivery.id = mine.id
    RETURNING delivery.id
""")

_FAILING = text("""
    SELECT concat('channel:', id), broken_at FROM soonish.channels
    WHERE broken_at IS NOT NULL AND id = ANY(CAST(:channels AS bigint[]))
    UNION ALL
    SELECT concat('contact:', id), broken_at FROM soonish.contacts
    WHERE broken_at IS NOT NULL AND id = ANY(CAST(:contacts AS bigint[]))
""")

_RENEW = text("""
    UPDATE soonish.deliveries SET claimed_until = clock_timestamp() + CAST(:lease AS interval)
    WHERE id = ANY(CAST(:ids AS bigint[])) AND claimed_by = :owner AND state = 'pending'
""")

_RELEASE = text("""
    UPDATE soonish.deliveries SET claimed_by = NULL, claimed_until = NULL
    WHERE id = ANY(CAST(:ids AS bigint[])) AND claimed_by = :owner AND state = 'pending'
""")

_NOTE = text("""
    UPDATE soonish.deliveries AS delivery
    SET trying_since = clock_timestamp(), tried_by = :owner, tries = delivery.tries + 1, next_try_at = NULL,
        maybe_twice = delivery.maybe_twice OR delivery.trying_since IS NOT NULL,
        claimed_until = clock_timestamp() + CAST(:lease AS interval)
    WHERE delivery.id = ANY(CAST(:ids AS bigint[])) AND delivery.state = 'pending' AND delivery.claimed_by = :owner
      AND EXISTS (
        SELECT FROM soonish.subscriptions AS person
        WHERE person.id = delivery.subscription_id AND person.state = 'active')
    RETURNING delivery.id
""")

_RECORD = text("""
    UPDATE soonish.deliveries AS delivery
    SET state = result.state,
        reason = result.reason,
        trying_since = NULL, claimed_by = NULL, claimed_until = NULL,
        next_try_at = CASE WHEN result.state = 'pending'
            THEN clock_timestamp() + make_interval(secs => result.pause) END,
        finished_at = CASE WHEN result.state <> 'pending' THEN clock_timestamp() END
    FROM unnest(CAST(:ids AS bigint[]), CAST(:states AS text[]), CAST(:reasons AS text[]), CAST(:pauses AS float8[]))
        AS result (id, state, reason, pause)
    WHERE delivery.id = result.id AND delivery.tried_by = :owner
      AND (delivery.state = 'pending' OR (delivery.reason = :cut_off AND result.state <> 'pending'))
    RETURNING delivery.id, delivery.notification_id, delivery.channel_key, delivery.state, delivery.reason
""")

_MARK_TWICE = text("""
    UPDATE soonish.deliveries SET maybe_twice = true
    WHERE id = ANY(CAST(:ids AS bigint[])) AND tried_by IS NOT NULL AND tried_by <> :owner
""")

_POSTPONE = text("""
    UPDATE soonish.deliveries AS delivery
    SET next_try_at = clock_timestamp() + make_interval(secs => waiting.pause),
        claimed_by = NULL, claimed_until = NULL
    FROM unnest(CAST(:ids AS bigint[]), CAST(:pauses AS float8[])) AS waiting (id, pause)
    WHERE delivery.id = waiting.id AND delivery.state = 'pending' AND delivery.claimed_by = :owner
""")


# The greatest of a value and NULL is the value. What somebody holds is due again when the claim lapses, and what waits
# for an earlier message when that is due, or waits no longer.
_COUNT_ROWS = """
    SELECT delivery.state, count(*), min(CASE WHEN delivery.state = 'pending' THEN
        greatest(coalesce(delivery.next_try_at, delivery.created_at), delivery.claimed_until, (
            SELECT max(least(
                greatest(coalesce(earlier.next_try_at, earlier.created_at), earlier.claimed_until),
                earlier.created_at + CAST(:patience AS interval)))
            {earlier})) END)
    FROM soonish.deliveries AS delivery
    WHERE delivery.notification_id = :id GROUP BY delivery.state
"""
_COUNT = text(_COUNT_ROWS.format(earlier=_EARLIER))


@dataclass(frozen=True)
class Recorded:
    delivery_id: int
    notification_id: int
    channel_key: str
    state: str
    reason: str


async def claim_due(session: AsyncSession, notification_id: int, claim: Claim, limit: int) -> Sequence[DueDelivery]:
    found = await session.execute(_CLAIM, {"id": notification_id, "limit": limit, **_ORDER, **_values(claim)})
    due = sorted((DueDelivery(*row) for row in found.tuples()), key=lambda item: item.delivery_id)
    if not due:
        return due
    reasons = {"cut_off": CUT_OFF, "muted": SkipReason.MUTED, "left": SkipReason.LEFT}
    skipped = set(
        await session.scalars(_SKIP_UNWANTED, {"ids": [item.delivery_id for item in due], **reasons}),
    )
    failing = await _load_failing(session, {item.channel_key for item in due})
    return [
        replace(item, failing_since=failing.get(item.channel_key)) for item in due if item.delivery_id not in skipped
    ]


async def count(session: AsyncSession, notification_id: int) -> tuple[Mapping[str, int], datetime | None]:
    """How many are in which state, and when the first of those that are not final is to be tried."""
    found = (await session.execute(_COUNT, {"id": notification_id, **_ORDER})).tuples().all()
    next_try_at = next((due_at for state, _, due_at in found if state == DeliveryState.PENDING), None)
    return {state: number for state, number, _ in found}, next_try_at


async def renew(session: AsyncSession, delivery_ids: Iterable[int], claim: Claim) -> None:
    await session.execute(_RENEW, {"ids": list(delivery_ids), **_values(claim)})


async def release(session: AsyncSession, delivery_ids: Iterable[int], claim: Claim) -> None:
    await session.execute(_RELEASE, {"ids": list(delivery_ids), "owner": claim.owner})


async def note_tries(session: AsyncSession, delivery_ids: Iterable[int], claim: Claim) -> Collection[int]:
    return set(await session.scalars(_NOTE, {"ids": list(delivery_ids), **_values(claim)}))


async def record_results(session: AsyncSession, results: Sequence[DeliveryResult], claim: Claim) -> Sequence[Recorded]:
    values = {
        "ids": [item.delivery_id for item in results],
        "states": [str(item.verdict.state) for item in results],
        "reasons": [item.reason for item in results],
        "pauses": [item.verdict.pause.total_seconds() if item.verdict.pause else 0.0 for item in results],
        "owner": claim.owner,
        "cut_off": CUT_OFF,
    }
    recorded = [Recorded(*row) for row in await session.execute(_RECORD, values)]
    known = {item.delivery_id for item in recorded}
    lost = [
        item.delivery_id
        for item in results
        if item.delivery_id not in known and item.verdict.state in _MAY_HAVE_ARRIVED
    ]
    if lost:
        await session.execute(_MARK_TWICE, {"ids": lost, "owner": claim.owner})
    return recorded


async def postpone(session: AsyncSession, waits: Mapping[int, timedelta], claim: Claim) -> None:
    pauses = [wait.total_seconds() for wait in waits.values()]
    await session.execute(_POSTPONE, {"ids": list(waits), "pauses": pauses, "owner": claim.owner})


def _values(claim: Claim) -> dict[str, object]:
    return {"owner": claim.owner, "lease": claim.lease}


async def _load_failing(session: AsyncSession, channel_keys: Collection[str]) -> Mapping[str, datetime]:
    """Since when each of these places has failed; a place that works is not among them."""
    ids = {"channels": row_ids(channel_keys, "channel"), "contacts": row_ids(channel_keys, "contact")}
    found = await session.execute(_FAILING, ids)
    return {key: since for key, since in found.tuples()}
