"""Events that the instance itself keeps for what people follow: one per subject, in step with it.

They have no organiser. Whoever follows the subject is subscribed; what people chose for one event themselves stays.
Keeping the same state again changes nothing, and two at once take turns by the lock on the event.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import delete, exists, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.db.transaction import load_time
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.adapters import event_rows, messages
from pressbox.soonish.adapters.inbox_notices import drop_unwanted
from pressbox.soonish.adapters.outbox import add_signal
from pressbox.soonish.adapters.rows import EventRow, OutboxRow, ReminderOffsetRow, SubscriptionRow
from pressbox.soonish.adapters.subscription_rows import replace_too_late
from pressbox.soonish.contracts import (
    EventCancelled,
    EventUpdated,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
)
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventFacts, EventStatus, Visibility, list_changes, validate
from pressbox.soonish.domain.messages import CALLED_OFF, POSTPONED, write_cancellation
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.service.events import new_slug
from pressbox.soonish.service.relay import WorkflowRelay
from pressbox.soonish.service.reopening import reopen_event

ACTIVE, MUTED, LEFT = SubscriptionState.ACTIVE, SubscriptionState.MUTED, SubscriptionState.LEFT


class KeptState(StrEnum):
    TAKES_PLACE = "takes place"
    POSTPONED = POSTPONED
    CALLED_OFF = CALLED_OFF


@dataclass(frozen=True)
class KeptEvent:
    """A subject that has a date: its event, and whether it takes place."""

    subject: str
    path: str
    facts: EventFacts
    state: KeptState = KeptState.TAKES_PLACE
    # What people follow who are subscribed to it.
    followed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Follower:
    """Somebody who follows it, with the reminders they like."""

    user_id: int
    offsets: tuple[timedelta, ...]
    muted: bool = False
    timezone: str = ""

    @property
    def state(self) -> SubscriptionState:
        return MUTED if self.muted else ACTIVE


class KeptEvents:
    def __init__(self, database: Database, relay: WorkflowRelay, now: Clock = utc_now) -> None:
        self._database = database
        self._relay = relay
        self._now = now

    async def keep(self, kept: KeptEvent, followers: Collection[Follower]) -> None:
        """Bring the event into step with its subject and its subscribers into step with the followers."""
        facts = validate(kept.facts)
        async with self._database.unit_of_work() as work:
            row = await _lock(work, kept.subject)
            if row is None:
                if not followers or kept.state is not KeptState.TAKES_PLACE or facts.ends_at <= self._now():
                    return
                row = await _make(work, kept, facts)
            row.followed = list(kept.followed)
            changed = await self._move(work, row, kept, facts)
            if row.start_date > self._now():
                changed |= await _subscribe(work, row, followers)
                changed |= await _hide_if_unwanted(work, row)
            if changed:
                row.updated_at = await load_time(work.session)
                work.changed(messages.EVENT_CHANGED, row.slug)
            event_id = row.id
        await self._relay.send_signals(event_id)

    async def list_open(self, prefix: str) -> Sequence[str]:
        """Subjects that begin so and whose event is not over."""
        statement = select(EventRow.subject).where(
            EventRow.subject.startswith(prefix, autoescape=True),
            EventRow.status != EventStatus.COMPLETED,
            EventRow.deleted_at.is_(None),
        )
        async with self._database.unit_of_work() as work:
            return [subject for subject in await work.session.scalars(statement) if subject is not None]

    async def find_stale(self, kept: Collection[KeptEvent]) -> Collection[str]:
        """The subjects whose event is missing or says something else. Subscribers are not compared."""
        known = {event.subject: event for event in kept}
        statement = select(EventRow).where(EventRow.subject == one_of_texts(known))
        async with self._database.unit_of_work() as work:
            rows = {row.subject: row for row in await work.session.scalars(statement)}
        return {subject for subject, event in known.items() if _is_stale(event, rows.get(subject), self._now())}

    async def _move(self, work: UnitOfWork, row: EventRow, kept: KeptEvent, facts: EventFacts) -> bool:
        """Tell of what changed by the ways of every event: an update, a cancellation, or its end."""
        if kept.state is not KeptState.TAKES_PLACE:
            return await _call_off(work, row, kept.state)
        moved = bool(list_changes(event_rows.read_facts(row), facts))
        if row.status == EventStatus.CANCELLED and facts.ends_at > self._now():
            # Nobody was told of the old date since it was called off: one message says both.
            event_rows.write_facts(row, facts)
            await event_rows.save_version(work.session, row)
            await reopen_event(work, row)
            return True
        if not moved or facts.ends_at <= self._now():
            return False
        row.status = EventStatus.ACTIVE
        row.version += 1
        event_rows.write_facts(row, facts)
        await event_rows.save_version(work.session, row)
        await add_signal(work.session, row.id, EventUpdated, version=row.version)
        return True


def _is_stale(kept: KeptEvent, row: EventRow | None, now: datetime) -> bool:
    takes_place = kept.state is KeptState.TAKES_PLACE
    if row is None or row.deleted_at is not None:
        return takes_place and kept.facts.ends_at > now
    if not takes_place:
        return row.status == EventStatus.ACTIVE
    return row.status != EventStatus.ACTIVE or bool(list_changes(event_rows.read_facts(row), kept.facts))


async def _lock(work: UnitOfWork, subject: str) -> EventRow | None:
    found: EventRow | None = await work.session.scalar(
        select(EventRow).where(EventRow.subject == subject).with_for_update()
    )
    return found


async def _make(work: UnitOfWork, kept: KeptEvent, facts: EventFacts) -> EventRow:
    """Make it, unless another has made it meanwhile: then that one is locked."""
    values = {"slug": new_slug(), "subject": kept.subject, "subject_path": kept.path, "status": EventStatus.ACTIVE}
    statement = upsert(EventRow).values(**asdict(facts), **values, visibility=Visibility.PUBLIC)
    await work.session.execute(statement.on_conflict_do_nothing(index_elements=["subject"]))
    row = await _lock(work, kept.subject)
    assert row is not None, "it was there or was inserted"
    await event_rows.save_version(work.session, row)
    return row


async def _call_off(work: UnitOfWork, row: EventRow, state: KeptState) -> bool:
    if row.status != EventStatus.ACTIVE:
        return False
    row.status = EventStatus.CANCELLED
    row.version += 1
    await event_rows.save_version(work.session, row)
    notification_id = await messages.accept_message(
        work.session,
        row.id,
        Cause.CANCELLED,
        str(row.version),
        Level.CRITICAL,
        write_cancellation(event_rows.read_facts(row), state.value),
        messages.everybody(),
        occasion={"reason": state.value},
    )
    await add_signal(work.session, row.id, EventCancelled, notification_id=notification_id)
    work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
    return True


async def _subscribe(work: UnitOfWork, row: EventRow, followers: Collection[Follower]) -> bool:
    """Subscribe whoever follows, follow what they changed, and let go whoever no longer follows."""
    wanted = {follower.user_id: follower for follower in followers}
    statement = select(SubscriptionRow).where(SubscriptionRow.event_id == row.id, SubscriptionRow.user_id.is_not(None))
    known = {
        found.user_id: found
        for found in await work.session.scalars(statement.order_by(SubscriptionRow.id).with_for_update())
    }
    offsets = await _load_offsets(work, [found.id for found in known.values()])
    added = await _add(work, row, [one for user_id, one in wanted.items() if user_id not in known])
    changed = False
    for user_id, found in known.items():
        follower = wanted.get(user_id or 0)
        if not found.by_follow:
            continue
        if follower is None:
            if found.state == LEFT:
                continue
            # Whoever follows it again begins anew.
            found.state, found.own_choice = LEFT, False
            await add_signal(work.session, row.id, ParticipantRemoved, subscription_id=found.id)
        elif found.own_choice or (found.state == follower.state and offsets[found.id] == follower.offsets):
            continue
        else:
            kind = ParticipantAdded if found.state == LEFT else ParticipantChanged
            found.state = follower.state
            await _write_offsets(work, row, {found.id: (found, follower)})
            await add_signal(work.session, row.id, kind, subscription_id=found.id)
        await drop_unwanted(work, found)
        found.changed_at = await load_time(work.session)
        changed = True
    return changed or added


async def _add(work: UnitOfWork, row: EventRow, followers: Sequence[Follower]) -> bool:
    if not followers:
        return False
    rows = [
        {
            "event_id": row.id,
            "user_id": one.user_id,
            "state": one.state,
            "by_follow": True,
            "timezone": one.timezone,
        }
        for one in followers
    ]
    # Somebody may have subscribed themselves a moment ago: that stands.
    statement = upsert(SubscriptionRow).on_conflict_do_nothing().returning(SubscriptionRow)
    added = list(await work.session.scalars(statement, rows))
    by_person = {one.user_id: one for one in followers}
    await _write_offsets(work, row, {one.id: (one, by_person[one.user_id or 0]) for one in added})
    signals = [
        {"event_id": row.id, "signal": ParticipantAdded.__name__, "payload": {"subscription_id": one.id}}
        for one in added
    ]
    if signals:
        await work.session.execute(insert(OutboxRow), signals)
    return bool(signals)


async def _write_offsets(
    work: UnitOfWork, row: EventRow, chosen: Mapping[int, tuple[SubscriptionRow, Follower]]
) -> None:
    if not chosen:
        return
    await work.session.execute(
        delete(ReminderOffsetRow).where(ReminderOffsetRow.subscription_id == one_of(list(chosen)))
    )
    rows = [
        {"subscription_id": number, "offset_seconds": int(offset.total_seconds())}
        for number, (_, follower) in chosen.items()
        for offset in follower.offsets
    ]
    if rows:
        await work.session.execute(insert(ReminderOffsetRow), rows)
    now = await load_time(work.session)
    for found, follower in chosen.values():
        found.own_offsets = True
        if any(row.start_date - offset <= now for offset in follower.offsets):
            await replace_too_late(work.session, row, found, follower.offsets)


async def _load_offsets(work: UnitOfWork, ids: Collection[int]) -> Mapping[int, tuple[timedelta, ...]]:
    """Largest first, as followers state them."""
    chosen = ReminderOffsetRow
    found = await work.session.execute(
        select(chosen.subscription_id, chosen.offset_seconds)
        .where(chosen.subscription_id == one_of(list(ids)))
        .order_by(chosen.offset_seconds.desc())
    )
    offsets: dict[int, tuple[timedelta, ...]] = dict.fromkeys(ids, ())
    for number, seconds in found.tuples():
        offsets[number] += (timedelta(seconds=seconds),)
    return offsets


async def _hide_if_unwanted(work: UnitOfWork, row: EventRow) -> bool:
    """What nobody is subscribed to any more is hidden, and comes back with the next follower."""
    await work.session.flush()
    anybody = exists().where(SubscriptionRow.event_id == row.id, SubscriptionRow.state != LEFT)
    wanted = await work.session.scalar(select(anybody))
    if bool(wanted) == (row.deleted_at is None):
        return False
    row.deleted_at = None if wanted else await load_time(work.session)
    return True
