"""Claims on rows of `core.notice_sends`, inside a unit of work: who may try one, until when, and whose result counts.

As the claims of soonish, on another ledger. Every time is that of the database.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.notices.outgoing import FOLLOWED, MUTED
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.delivery.domain.notices import Told
from pressbox.delivery.ports import Claim, DeliveryResult

# After such a result another try of the same row is one too many.
_MAY_HAVE_ARRIVED = (DeliveryState.SENT, DeliveryState.UNCERTAIN)

# A correction waits for what it corrects. Materialized: a plan that asks twice would lock others each time.
_DUE = """
    send.state = 'pending' AND send.next_try_at <= clock_timestamp()
    AND (send.claimed_until IS NULL OR send.claimed_until <= clock_timestamp())
    AND NOT EXISTS (
        SELECT FROM core.notice_sends AS earlier
        WHERE earlier.notice_id = send.notice_id AND earlier.user_id = send.user_id
          AND earlier.channel_key = send.channel_key AND earlier.step < send.step AND earlier.state = 'pending'
    )
"""
_CLAIM = """
    WITH due AS MATERIALIZED (
        SELECT send.id FROM core.notice_sends AS send WHERE {due}
        ORDER BY send.tries, send.id LIMIT :limit FOR UPDATE OF send SKIP LOCKED
    )
    UPDATE core.notice_sends AS send
    SET claimed_by = :owner, claimed_until = clock_timestamp() + CAST(:lease AS interval)
    FROM due WHERE send.id = due.id
    RETURNING send.id, send.user_id, send.notice_id, send.channel_key, send.step, send.tries,
        send.trying_since, send.told_version, send.told_title, send.told_gist, send.told_state
"""
_COUNT = "SELECT count(*) FROM (SELECT FROM core.notice_sends AS send WHERE {due} LIMIT :most) AS waiting"
MOST_COUNTED = 5_000

_UNWANTED = """
    SELECT send.id, CASE WHEN {muted} THEN 'muted' ELSE 'unfollowed' END
    FROM core.notice_sends AS send JOIN core.notices AS notices ON notices.id = send.notice_id
    WHERE send.id = ANY (CAST(:ids AS bigint[])) AND ({muted} OR NOT {followed})
"""
_PLANS = """
    SELECT send.id, CASE WHEN {muted} THEN 'muted' WHEN NOT {followed} THEN 'unfollowed' ELSE '' END,
        send.user_id, send.notice_id, coalesce(send.told_version, '')
    FROM core.notice_sends AS send JOIN core.notices AS notices ON notices.id = send.notice_id
    WHERE send.id = ANY (CAST(:ids AS bigint[]))
"""

_TOLD = text("""
    SELECT DISTINCT ON (send.id) send.id, earlier.told_version, earlier.told_title, earlier.told_gist,
        earlier.told_state
    FROM core.notice_sends AS send
    JOIN core.notice_sends AS earlier ON earlier.notice_id = send.notice_id AND earlier.user_id = send.user_id
        AND earlier.channel_key = send.channel_key AND earlier.step < send.step
    WHERE send.id = ANY (CAST(:ids AS bigint[])) AND earlier.state IN ('sent', 'uncertain')
        AND earlier.told_version IS NOT NULL
    ORDER BY send.id, earlier.step DESC
""")

_WRITE_PLANS = text("""
    UPDATE core.notice_sends AS send
    SET told_version = plan.version, told_title = plan.title, told_gist = plan.gist, told_state = plan.state
    FROM unnest(CAST(:ids AS bigint[]), CAST(:versions AS text[]), CAST(:titles AS text[]), CAST(:gists AS text[]),
        CAST(:states AS text[])) AS plan (id, version, title, gist, state)
    WHERE send.id = plan.id
""")
_SKIP = text("""
    UPDATE core.notice_sends AS send
    SET state = CASE WHEN result.arrived THEN 'uncertain' ELSE 'skipped' END, reason = result.reason,
        trying_since = NULL, claimed_by = NULL, claimed_until = NULL, finished_at = clock_timestamp()
    FROM unnest(CAST(:ids AS bigint[]), CAST(:reasons AS text[]), CAST(:arrived AS boolean[]))
        AS result (id, reason, arrived)
    WHERE send.id = result.id
""")
_FORGET = text("DELETE FROM core.notice_sends WHERE id = ANY (CAST(:ids AS bigint[]))")
# Not at once again, whatever the moment is.
_WAIT = text("""
    UPDATE core.notice_sends AS send
    SET next_try_at = greatest(result.until, clock_timestamp() + interval '5 seconds'), reason = result.reason,
        claimed_by = NULL, claimed_until = NULL
    FROM unnest(CAST(:ids AS bigint[]), CAST(:untils AS timestamptz[]), CAST(:reasons AS text[]))
        AS result (id, until, reason)
    WHERE send.id = result.id
""")

_RENEW = text("""
    UPDATE core.notice_sends SET claimed_until = clock_timestamp() + CAST(:lease AS interval)
    WHERE id = ANY (CAST(:ids AS bigint[])) AND claimed_by = :owner AND state = 'pending'
""")
_RELEASE = text("""
    UPDATE core.notice_sends SET claimed_by = NULL, claimed_until = NULL
    WHERE id = ANY (CAST(:ids AS bigint[])) AND claimed_by = :owner AND state = 'pending'
""")
_NOTE = """
    UPDATE core.notice_sends AS send
    SET trying_since = clock_timestamp(), tried_by = :owner, tries = send.tries + 1,
        maybe_twice = send.maybe_twice OR send.trying_since IS NOT NULL,
        claimed_until = clock_timestamp() + CAST(:lease AS interval)
    FROM core.notices AS notices
    WHERE send.id = ANY (CAST(:ids AS bigint[])) AND send.state = 'pending' AND send.claimed_by = :owner
      AND notices.id = send.notice_id AND NOT {muted} AND {followed}
    RETURNING send.id
"""
_RECORD = text("""
    UPDATE core.notice_sends AS send
    SET state = result.state, reason = result.reason, trying_since = NULL, claimed_by = NULL, claimed_until = NULL,
        next_try_at = CASE WHEN result.state = 'pending'
            THEN clock_timestamp() + make_interval(secs => result.pause) ELSE send.next_try_at END,
        finished_at = CASE WHEN result.state <> 'pending' THEN clock_timestamp() END
    FROM unnest(CAST(:ids AS bigint[]), CAST(:states AS text[]), CAST(:reasons AS text[]), CAST(:pauses AS float8[]))
        AS result (id, state, reason, pause)
    WHERE send.id = result.id AND send.tried_by = :owner AND send.state = 'pending'
    RETURNING send.id, send.channel_key, send.state, send.reason
""")
_MARK_TWICE = text("""
    UPDATE core.notice_sends SET maybe_twice = true
    WHERE id = ANY (CAST(:ids AS bigint[])) AND tried_by IS NOT NULL AND tried_by <> :owner
""")
_POSTPONE = text("""
    UPDATE core.notice_sends AS send
    SET next_try_at = clock_timestamp() + make_interval(secs => waiting.pause), claimed_by = NULL, claimed_until = NULL
    FROM unnest(CAST(:ids AS bigint[]), CAST(:pauses AS float8[])) AS waiting (id, pause)
    WHERE send.id = waiting.id AND send.state = 'pending' AND send.claimed_by = :owner
""")


def _with_parts(statement: str) -> TextClause:
    return text(statement.format(due=_DUE, muted=MUTED, followed=FOLLOWED))


@dataclass(frozen=True)
class Claimed:
    """A row that this round holds. `cut_off` is what a try said of which nobody knows the end."""

    id: int
    user_id: int
    notice_id: int
    channel_key: str
    step: int
    tries: int
    cut_off: Told | None = None


@dataclass(frozen=True)
class Planned:
    """A row shortly before it is sent. `unwanted` is the reason why its person does not want it, or empty."""

    id: int
    unwanted: str
    user_id: int
    notice_id: int
    version: str


@dataclass(frozen=True)
class Settled:
    """A row that is not sent: for good with a reason, until a moment, or forgotten because it would say nothing new.

    What waits `until` a moment may have a reason too.
    """

    id: int
    reason: str = ""
    may_have_arrived: bool = False
    until: datetime | None = None
    forget: bool = False


@dataclass(frozen=True)
class Recorded:
    delivery_id: int
    channel_key: str
    state: str
    reason: str


async def claim_due(session: AsyncSession, claim: Claim, limit: int) -> Sequence[Claimed]:
    values = {"limit": limit, "owner": claim.owner, "lease": claim.lease}
    found = (await session.execute(_with_parts(_CLAIM), values)).tuples().all()
    held = [_read_claimed(*row) for row in found]
    return sorted(held, key=lambda item: item.id)


def _read_claimed(
    id: int,
    user_id: int,
    notice_id: int,
    channel_key: str,
    step: int,
    tries: int,
    trying_since: datetime | None,
    *told: str | None,
) -> Claimed:
    version, title, gist, state = told
    cut_off = None if trying_since is None or version is None else Told(version, title or "", gist or "", state or "")
    return Claimed(id, user_id, notice_id, channel_key, step, tries, cut_off)


async def count_waiting(session: AsyncSession) -> int:
    return await session.scalar(_with_parts(_COUNT), {"most": MOST_COUNTED}) or 0


async def find_unwanted(session: AsyncSession, send_ids: Collection[int]) -> Mapping[int, str]:
    """Those of these whose person has muted or left what they are about, each with the reason."""
    found = await session.execute(_with_parts(_UNWANTED), {"ids": list(send_ids)})
    return {number: reason for number, reason in found.tuples()}


async def load_told(session: AsyncSession, held: Sequence[Claimed]) -> Mapping[int, Told]:
    """What was told by the same way before, for those rows that correct something."""
    corrections = [item.id for item in held if item.step > 1]
    if not corrections:
        return {}
    return {row[0]: Told(*row[1:]) for row in await session.execute(_TOLD, {"ids": corrections})}


async def load_plans(session: AsyncSession, send_ids: Collection[int]) -> Sequence[Planned]:
    """What each of these is about to say, and why its person does not want it, if so."""
    found = await session.execute(_with_parts(_PLANS), {"ids": list(send_ids)})
    return [Planned(*row) for row in found.tuples()]


async def write_plans(session: AsyncSession, plans: Sequence[tuple[int, Told]]) -> None:
    """Write what is about to be told, before anything leaves."""
    if plans:
        values = {
            "ids": [number for number, _ in plans],
            "versions": [told.version for _, told in plans],
            "titles": [told.title for _, told in plans],
            "gists": [told.gist for _, told in plans],
            "states": [told.state for _, told in plans],
        }
        await session.execute(_WRITE_PLANS, values)


async def settle(session: AsyncSession, settled: Sequence[Settled]) -> None:
    if forgotten := [item.id for item in settled if item.forget]:
        await session.execute(_FORGET, {"ids": forgotten})
    if waits := [item for item in settled if item.until is not None]:
        waiting = {
            "ids": [item.id for item in waits],
            "untils": [item.until for item in waits],
            "reasons": [item.reason for item in waits],
        }
        await session.execute(_WAIT, waiting)
    if skipped := [item for item in settled if item.reason and item.until is None]:
        values = {
            "ids": [item.id for item in skipped],
            "reasons": [item.reason for item in skipped],
            "arrived": [item.may_have_arrived for item in skipped],
        }
        await session.execute(_SKIP, values)


async def renew(session: AsyncSession, send_ids: Iterable[int], claim: Claim) -> None:
    await session.execute(_RENEW, {"ids": list(send_ids), "owner": claim.owner, "lease": claim.lease})


async def release(session: AsyncSession, send_ids: Iterable[int], claim: Claim) -> None:
    await session.execute(_RELEASE, {"ids": list(send_ids), "owner": claim.owner})


async def note_tries(session: AsyncSession, send_ids: Iterable[int], claim: Claim) -> Collection[int]:
    values = {"ids": list(send_ids), "owner": claim.owner, "lease": claim.lease}
    return set(await session.scalars(_with_parts(_NOTE), values))


async def record_results(session: AsyncSession, results: Sequence[DeliveryResult], claim: Claim) -> Sequence[Recorded]:
    values = {
        "ids": [item.delivery_id for item in results],
        "states": [str(item.verdict.state) for item in results],
        "reasons": [item.reason for item in results],
        "pauses": [item.verdict.pause.total_seconds() if item.verdict.pause else 0.0 for item in results],
        "owner": claim.owner,
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
