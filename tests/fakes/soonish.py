"""Hand-written doubles of soonish's ports: one small world in memory, with a clock that a test can set."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from pressbox.core.errors import TransientError
from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState, Level
from pressbox.delivery.ports import Attempt, BrokenChannel, Claim, DeliveryResult, NoTurnError, OutgoingMessage, SendNow
from pressbox.soonish.activities.deliveries import DeliveryActivities
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.activities.events import EventActivities
from pressbox.soonish.activities.reminder_dispatch import ReminderDispatcher
from pressbox.soonish.activities.schedules import ScheduleActivities
from pressbox.soonish.activities.shared_reminders import SharedReminders
from pressbox.soonish.activities.sweeps import SweepActivities
from pressbox.soonish.activities.upkeep import UpkeepActivities
from pressbox.soonish.contracts import EventDetails, OutboxEntry, SweepStep
from pressbox.soonish.domain.delivery import Cause, DeliveryCounts
from pressbox.soonish.domain.events import EventFacts, EventStatus
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import (
    DEFAULT_OFFSETS,
    EVERYBODY,
    Circumstances,
    ReminderOutcome,
    Subscriber,
    SubscriptionState,
    TooLate,
    WantedReminder,
    delivery_version,
)
from pressbox.soonish.ports import DueDelivery
from pressbox.soonish.reminder_ports import RequestedReminder

ORGANISER = 1
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class FakeEvent:
    facts: EventFacts
    status: EventStatus = EventStatus.ACTIVE
    version: int = 1
    versions: dict[int, EventFacts] = field(default_factory=dict)


@dataclass
class FakeMessage:
    event_id: int
    cause: Cause
    version: str
    level: Level
    text: MessageText
    recipients: tuple[int, ...]
    finished: bool = False
    cancelled: bool = False


@dataclass
class FakeDelivery:
    delivery_id: int
    notification_id: int
    subscription_id: int
    channel_key: str
    state: DeliveryState = DeliveryState.PENDING
    reason: str = ""
    tries: int = 0
    trying: bool = False
    maybe_twice: bool = False
    next_try_at: datetime | None = None
    claimed_by: str | None = None
    claimed_until: datetime = LONG_AGO
    tried_by: str | None = None


class FakeClock:
    """Real time plus what a test adds."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class FakeEvents:
    def __init__(self, ledger: "FakeLedger") -> None:
        self.all: dict[int, FakeEvent] = {}
        self.subscribers: dict[int, dict[int, Subscriber]] = {}
        self._ledger = ledger

    def create(self, event_id: int, facts: EventFacts, *, announced: bool = True) -> None:
        """Subscription 1 is the organiser's own: "created" goes there."""
        self.all[event_id] = FakeEvent(facts, versions={1: facts})
        self.subscribers[event_id] = {}
        if announced:
            self._ledger.write(event_id, Cause.CREATED, "1", [ORGANISER])

    def edit(self, event_id: int, **changes: object) -> int:
        event = self.all[event_id]
        event.facts = replace(event.facts, **changes)  # type: ignore[arg-type]
        event.version += 1
        event.versions[event.version] = event.facts
        return event.version

    def subscribe(self, event_id: int, subscription_id: int, offsets: Sequence[timedelta] | None = None) -> None:
        self.subscribers[event_id][subscription_id] = Subscriber(
            subscription_id, SubscriptionState.ACTIVE, None if offsets is None else tuple(offsets)
        )

    def set_state(self, event_id: int, subscription_id: int, state: SubscriptionState) -> None:
        people = self.subscribers[event_id]
        people[subscription_id] = replace(people[subscription_id], state=state)

    async def load_details(self, event_id: int) -> EventDetails | None:
        event = self.all.get(event_id)
        if event is None:
            return None
        return EventDetails(
            event_id=event_id,
            status=event.status,
            start_date=event.facts.start_date,
            ends_at=event.facts.ends_at,
            version=event.version,
        )

    async def load_facts(self, event_id: int) -> EventFacts | None:
        event = self.all.get(event_id)
        return event.facts if event else None

    async def accept_update(self, event_id: int, from_version: int) -> tuple[int | None, int]:
        event = self.all[event_id]
        if event.status is not EventStatus.ACTIVE or event.versions[from_version] == event.facts:
            return None, event.version
        everybody = list(self.subscribers[event_id])
        version = f"{from_version}→{event.version}"
        return self._ledger.write(event_id, Cause.UPDATED, version, everybody, Level.WARNING), event.version

    async def choose_live(self, event_ids: Sequence[int]) -> Sequence[int]:
        found = [number for number in event_ids if number in self.all]
        return [number for number in found if self.all[number].status is EventStatus.ACTIVE]

    async def mark_completed(self, event_id: int) -> None:
        if self.all[event_id].status is EventStatus.ACTIVE:
            self.all[event_id].status = EventStatus.COMPLETED

    async def purge_deleted(self, before: datetime) -> int:
        return 0

    async def purge_strangers(self, unconfirmed_before: datetime, gone_before: datetime) -> int:
        return 0

    async def find_creation_message(self, event_id: int) -> int | None:
        return self._ledger.find(event_id, Cause.CREATED)


class FakeLedger:
    def __init__(self, now: FakeClock) -> None:
        self._now = now
        self.messages: dict[int, FakeMessage] = {}
        self.deliveries: dict[int, FakeDelivery] = {}
        self.without_channel: set[int] = set()
        self.last_begun: list[int] = []
        self._of: dict[int, list[FakeDelivery]] = {}
        self._opened: set[tuple[int, int]] = set()
        # Who follows an event, for reminders to everybody.
        self.followers: Callable[[int], Iterable[Subscriber]] = lambda _: ()

    def write(
        self,
        event_id: int,
        cause: Cause,
        version: str,
        recipients: Sequence[int],
        level: Level = Level.INFO,
        text: MessageText | None = None,
    ) -> int:
        found = self.find(event_id, cause, version)
        if found is not None:
            return found
        number = len(self.messages) + 1
        text = text or MessageText(f"{cause} {version}", "")
        self.messages[number] = FakeMessage(event_id, cause, version, level, text, tuple(sorted(recipients)))
        self._of[number] = []
        return number

    def find(self, event_id: int, cause: Cause, version: str | None = None) -> int | None:
        for number, message in self.messages.items():
            if (message.event_id, message.cause) == (event_id, cause) and version in (None, message.version):
                return number
        return None

    def of(self, notification_id: int) -> list[FakeDelivery]:
        return self._of[notification_id]

    async def accept_message(
        self,
        event_id: int,
        cause: Cause,
        version: str,
        level: Level,
        text: MessageText,
        subscription_ids: Sequence[int],
    ) -> int:
        return self.write(event_id, cause, version, subscription_ids, level, text)

    async def find_open_message(self, event_id: int, cause: Cause, version: str) -> int | None:
        found = self.find(event_id, cause, version)
        return None if found is None or self.messages[found].finished else found

    async def accept_shared_reminder(
        self, event_id: int, version: str, text: MessageText, offset_seconds: int
    ) -> int | None:
        offset = timedelta(seconds=offset_seconds)
        chosen = [
            person.subscription_id
            for person in self.followers(event_id)
            if person.state is SubscriptionState.ACTIVE
            and offset in (DEFAULT_OFFSETS if person.offsets is None else person.offsets)
        ]
        new = [one for one in chosen if not self._find_reminder(one, delivery_version(version, one))]
        found = self.find(event_id, Cause.REMINDER, version)
        if found is None:
            return self.write(event_id, Cause.REMINDER, version, new, Level.WARNING, text) if new else None
        message = self.messages[found]
        message.finished = message.finished and set(new) <= set(message.recipients)
        message.recipients = tuple(sorted({*message.recipients, *new}))
        return None if message.finished else found

    async def is_in_shared_reminder(self, subscription_id: int, version: str) -> bool:
        own = self._find_reminder(subscription_id, version)
        return own is not None and own.version != version

    def _find_reminder(self, subscription_id: int, version: str) -> FakeMessage | None:
        for item in self.deliveries.values():
            message = self.messages[item.notification_id]
            mine = delivery_version(message.version, item.subscription_id) == version
            if message.cause is Cause.REMINDER and item.subscription_id == subscription_id and mine:
                return message
        return None

    async def rewrite_message(self, notification_id: int, text: MessageText) -> None:
        self.messages[notification_id].text = text

    async def open_batch(self, notification_id: int, after: int, limit: int) -> tuple[int | None, int]:
        message = self.messages[notification_id]
        if message.cancelled:
            return None, len(message.recipients)
        following = [number for number in message.recipients if number > after]
        for subscription_id in following[:limit]:
            self._open(notification_id, subscription_id)
        last = following[limit - 1] if len(following) > limit else None
        return last, len(message.recipients)

    async def count_recipients(self, notification_id: int) -> int:
        return len(self.messages[notification_id].recipients)

    async def claim_due(self, notification_id: int, claim: Claim, limit: int, *, opens: bool) -> Sequence[DueDelivery]:
        now, message = self._now(), self.messages[notification_id]
        if opens and not message.cancelled:
            unopened = [one for one in message.recipients if (notification_id, one) not in self._opened]
            for subscription_id in unopened[:limit]:
                self._open(notification_id, subscription_id)
        found: list[DueDelivery] = []
        for item in self.of(notification_id):
            is_held = item.claimed_by is not None and item.claimed_until > now
            is_due = item.next_try_at is None or item.next_try_at <= now
            if item.state is DeliveryState.PENDING and is_due and not is_held and len(found) < limit:
                item.claimed_by, item.claimed_until = claim.owner, now + claim.lease
                found.append(DueDelivery(item.delivery_id, item.subscription_id, item.channel_key, item.tries))
        return found

    async def renew(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        for item in self._held(delivery_ids, claim):
            item.claimed_until = self._now() + claim.lease

    async def release(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        for item in self._held(delivery_ids, claim):
            item.claimed_by = None

    async def note_tries(self, delivery_ids: Iterable[int], claim: Claim) -> Collection[int]:
        held = self._held(delivery_ids, claim)
        self.last_begun = [item.delivery_id for item in held]
        for item in held:
            item.maybe_twice = item.maybe_twice or item.trying
            item.trying, item.tries, item.next_try_at, item.tried_by = True, item.tries + 1, None, claim.owner
        return self.last_begun

    async def record_results(self, results: Sequence[DeliveryResult], claim: Claim) -> None:
        for result in results:
            item = self.deliveries[result.delivery_id]
            if item.tried_by == claim.owner:
                item.state, item.reason, item.trying = result.verdict.state, result.reason, False
                pause = result.verdict.pause
                item.next_try_at = self._now() + pause if pause is not None else None
                item.claimed_by = None
            else:
                item.maybe_twice = True

    async def postpone(self, waits: Mapping[int, timedelta], claim: Claim) -> None:
        for item in self._held(waits, claim):
            item.next_try_at, item.claimed_by = self._now() + waits[item.delivery_id], None

    def _held(self, delivery_ids: Iterable[int], claim: Claim) -> list[FakeDelivery]:
        found = [self.deliveries[number] for number in delivery_ids]
        return [item for item in found if item.claimed_by == claim.owner and item.state is DeliveryState.PENDING]

    async def load_message(self, notification_id: int) -> tuple[MessageText, Level]:
        message = self.messages[notification_id]
        return message.text, message.level

    async def count_deliveries(self, notification_id: int) -> tuple[DeliveryCounts, datetime | None]:
        counts = {str(state): 0 for state in DeliveryState}
        waiting = []
        for item in self.of(notification_id):
            counts[item.state] += 1
            if item.state is DeliveryState.PENDING:
                held_until = item.claimed_until if item.claimed_by else LONG_AGO
                waiting.append(max(item.next_try_at or LONG_AGO, held_until))
        return DeliveryCounts.from_states(counts), min(waiting, default=None)

    async def cancel(self, notification_id: int) -> None:
        self.messages[notification_id].cancelled = True
        await self.skip(notification_id, "broadcast_cancelled")

    async def skip(self, notification_id: int, reason: str) -> None:
        message = self.messages[notification_id]
        for subscription_id in message.recipients:
            self._open(notification_id, subscription_id)
        for item in self.of(notification_id):
            if item.state is DeliveryState.PENDING:
                item.state, item.reason = DeliveryState.SKIPPED, reason
        message.finished = True

    async def finish(self, notification_id: int) -> None:
        self.messages[notification_id].finished = True

    def _open(self, notification_id: int, subscription_id: int) -> None:
        if (notification_id, subscription_id) in self._opened:
            return
        self._opened.add((notification_id, subscription_id))
        item = FakeDelivery(len(self.deliveries) + 1, notification_id, subscription_id, f"channel:{subscription_id}")
        if subscription_id in self.without_channel:
            item.state, item.reason, item.channel_key = DeliveryState.SKIPPED, "no_targets", "none"
        self.deliveries[item.delivery_id] = item
        self.of(notification_id).append(item)


class FakeReminders:
    def __init__(self, events: FakeEvents) -> None:
        self.noted: dict[int, dict[tuple[int, int], datetime]] = {}
        self.too_late: list[TooLate] = []
        self.requests: dict[int, RequestedReminder] = {}
        self.outcomes: dict[int, ReminderOutcome] = {}
        self.withdrawn: set[int] = set()
        self._events = events

    async def load_subscribers(self, event_id: int, subscription_id: int | None = None) -> Sequence[Subscriber]:
        people = self._events.subscribers.get(event_id, {}).values()
        return [person for person in people if subscription_id in (None, person.subscription_id)]

    async def load_schedules(
        self, event_id: int, subscription_id: int | None = None
    ) -> Mapping[tuple[int, int], datetime]:
        noted = self.noted.get(event_id, {})
        return {key: start for key, start in noted.items() if subscription_id in (None, key[0]) or key[0] == EVERYBODY}

    async def count_schedules(self, event_id: int) -> int:
        return sum(key[0] != EVERYBODY for key in self.noted.get(event_id, {}))

    async def record_schedules(self, event_id: int, reminders: Iterable[WantedReminder]) -> None:
        self.noted.setdefault(event_id, {}).update({item.key: item.start_date for item in reminders})

    async def forget_schedules(self, event_id: int, keys: Iterable[tuple[int, int]]) -> None:
        for key in keys:
            self.noted.get(event_id, {}).pop(key, None)

    async def record_too_late(self, event_id: int, offsets: Iterable[TooLate]) -> None:
        self.too_late.extend(offsets)

    async def load_circumstances(self, event_id: int, subscription_id: int) -> Circumstances:
        event = self._events.all.get(event_id)
        person = self._events.subscribers.get(event_id, {}).get(subscription_id)
        if event is None:
            return Circumstances(None, None, None)
        return Circumstances(event.status, event.facts.start_date, person.state if person else None)

    async def load_overdue(self, before: datetime, limit: int) -> Sequence[tuple[int, WantedReminder]]:
        every = {
            (event_id, WantedReminder(EVERYBODY, timedelta(seconds=offset), start))
            for event_id, noted in self.noted.items()
            for (_, offset), start in noted.items()
        }
        return sorted((item for item in every if item[1].fire_at < before), key=lambda item: item[1].fire_at)[:limit]

    async def load_unstarted_requests(self) -> Sequence[RequestedReminder]:
        return list(self.requests.values())

    async def mark_request_started(self, reminder_id: int) -> None:
        self.requests.pop(reminder_id, None)

    async def is_request_withdrawn(self, reminder_id: int) -> bool:
        return reminder_id in self.withdrawn

    async def record_request_outcome(self, reminder_id: int, outcome: ReminderOutcome) -> None:
        self.outcomes[reminder_id] = outcome


class FakeSchedules:
    """Which schedules exist in "Temporal", and every call that was made."""

    def __init__(self) -> None:
        self.exist: dict[tuple[int, int, int], datetime] = {}
        self.calls: list[tuple[str, int, int, int]] = []
        self.before_delete: Callable[[], Awaitable[None]] | None = None

    async def create(self, event_id: int, reminder: WantedReminder) -> None:
        self._call("create", event_id, *reminder.key)
        self.exist[(event_id, *reminder.key)] = reminder.start_date

    async def move(self, event_id: int, reminder: WantedReminder) -> None:
        self._call("move", event_id, *reminder.key)
        self.exist[(event_id, *reminder.key)] = reminder.start_date

    async def delete(self, event_id: int, subscription_id: int, offset_seconds: int) -> None:
        if self.before_delete is not None:
            await self.before_delete()
        self._call("delete", event_id, subscription_id, offset_seconds)
        self.exist.pop((event_id, subscription_id, offset_seconds), None)

    def _call(self, name: str, event_id: int, subscription_id: int, offset_seconds: int) -> None:
        self.calls.append((name, event_id, subscription_id, offset_seconds))


class FakeSender:
    """Says yes, unless a script says what a channel answers, try by try."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, OutgoingMessage]] = []
        self.scripts: dict[str, list[Attempt]] = {}
        self.seconds = 0.0
        self.hold: asyncio.Event | None = None
        # Targets that never get a turn.
        self.stuck: set[str] = set()
        # Targets that have a turn only after that time.
        self.busy: dict[str, timedelta] = {}
        self.arrived = asyncio.Event()

    def answers(self, subscription_id: int, *results: AttemptResult, retry_after: timedelta | None = None) -> None:
        self.scripts[f"channel:{subscription_id}"] = [Attempt(result, "", retry_after) for result in results]

    def to(self, subscription_id: int) -> list[str]:
        return [message.title for key, message in self.sent if key == f"channel:{subscription_id}"]

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        if channel_key in self.stuck:
            await asyncio.Event().wait()
        if channel_key in self.busy:
            raise NoTurnError(self.busy[channel_key])
        yield partial(self.send, channel_key)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        self.arrived.set()
        if self.hold is not None:
            await self.hold.wait()
        if self.seconds:
            await asyncio.sleep(self.seconds)
        self.sent.append((channel_key, message))
        script = self.scripts.get(channel_key)
        return script.pop(0) if script else Attempt(AttemptResult.ACCEPTED)


class FakeLinks:
    def why_url(self, delivery_id: int) -> str:
        return f"https://events.example.org/why/{delivery_id}"

    def unsubscribe_url(self, subscription_id: int) -> str:
        return f"https://events.example.org/unsubscribe/{subscription_id}"


@dataclass(frozen=True)
class FakeWording:
    text: MessageText

    def write(self, item: DueDelivery, now: datetime) -> MessageText:
        return self.text

    def list_links(self, item: DueDelivery) -> tuple[str, ...]:
        return ()


class FakeWordings:
    """Everybody reads the text as it was accepted."""

    async def load(self, notification_id: int, text: MessageText, due: Sequence[DueDelivery]) -> FakeWording:
        return FakeWording(text)


class FakeOutbox:
    def __init__(self) -> None:
        self.rows: list[tuple[int, OutboxEntry]] = []
        self.sent_ids: list[int] = []

    async def claim(self, event_id: int, lease: timedelta, limit: int) -> Sequence[OutboxEntry]:
        return [row for number, row in self._untold() if number == event_id][:limit]

    async def settle(self, event_id: int) -> None:
        return

    async def release(self, outbox_ids: Iterable[int]) -> None:
        return

    async def load_waiting(self, limit: int) -> Sequence[int]:
        return list(dict.fromkeys(number for number, _ in self._untold()))[:limit]

    async def tell_again(self, event_id: int) -> None:
        mine = {row.outbox_id for number, row in self.rows if number == event_id}
        self.sent_ids = [number for number in self.sent_ids if number not in mine]

    def _untold(self) -> list[tuple[int, OutboxEntry]]:
        return [row for row in self.rows if row[1].outbox_id not in self.sent_ids]

    async def mark_sent(self, outbox_ids: Iterable[int]) -> None:
        self.sent_ids.extend(outbox_ids)


class FakeWorkflows:
    def __init__(self) -> None:
        self.signalled: list[tuple[int, OutboxEntry]] = []
        self.started: list[int] = []
        self.late: list[tuple[int, WantedReminder]] = []
        self.failed: list[int] = []
        self.restarted: list[int] = []
        # Events for which Temporal takes no more signals.
        self.full: set[int] = set()
        self.cancelled: list[tuple[str, int]] = []

    async def find_failed_events(self) -> Sequence[int]:
        return self.failed

    async def start_event(self, event_id: int) -> None:
        self.restarted.append(event_id)

    async def signal_event(self, event_id: int, signals: Sequence[OutboxEntry]) -> None:
        if event_id in self.full:
            raise TransientError("Temporal refuses a signal.")
        self.signalled.extend((event_id, signal) for signal in signals)

    async def start_late_reminder(self, event_id: int, reminder: WantedReminder) -> None:
        self.late.append((event_id, reminder))

    async def start_reminder(self, reminder: RequestedReminder) -> None:
        self.started.append(reminder.reminder_id)

    async def cancel_reminder(self, subscription_id: int, reminder_id: int) -> None:
        self.cancelled.append(("reminder", reminder_id))

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> bool:
        self.cancelled.append(("broadcast", notification_id))
        return True


class FakeDueWork:
    def __init__(self) -> None:
        self.steps: set[SweepStep] = set()

    async def look(self, overdue_after: timedelta) -> Collection[SweepStep]:
        return self.steps


class FakeBrokenChannels:
    def __init__(self) -> None:
        self.unreported: list[BrokenChannel] = []

    async def claim(self, limit: int) -> Sequence[BrokenChannel]:
        claimed, self.unreported = self.unreported[:limit], self.unreported[limit:]
        return claimed


class FakeWorld:
    """All ports together, and the real activities on them."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.ledger = FakeLedger(self.clock)
        self.events = FakeEvents(self.ledger)
        self.reminders = FakeReminders(self.events)
        self.schedules = FakeSchedules()
        self.sender = FakeSender()
        self.broken = FakeBrokenChannels()
        self.outbox = FakeOutbox()
        self.workflows = FakeWorkflows()
        self.dispatcher = Dispatcher(self.ledger, self.sender, FakeLinks(), FakeWordings(), self.clock)
        self.reminder_dispatcher = ReminderDispatcher(
            self.events, self.ledger, self.reminders, self.dispatcher, self.clock
        )
        self.event_activities = EventActivities(self.events)
        self.ledger.followers = lambda event_id: self.events.subscribers.get(event_id, {}).values()
        self.shared = SharedReminders(self.events, self.ledger, self.reminders, self.dispatcher, self.clock)
        self.deliveries = DeliveryActivities(
            self.ledger, self.reminders, self.dispatcher, self.reminder_dispatcher, self.shared
        )
        self.schedule_activities = ScheduleActivities(self.events, self.reminders, self.schedules, self.clock)
        self.due_work = FakeDueWork()
        self.sweeps = SweepActivities(
            self.outbox, self.workflows, self.reminders, self.events, self.due_work, self.clock
        )
        self.upkeep = UpkeepActivities(self.events, self.broken, self.sender, None, self.clock)

    @property
    def activities(self) -> list[Callable[..., object]]:
        return [
            self.event_activities.validate_event_exists,
            self.event_activities.get_event_details,
            self.event_activities.accept_update_notification,
            self.event_activities.complete_event,
            self.deliveries.send_notification,
            self.deliveries.measure_notification,
            self.deliveries.send_reminder_notification,
            self.deliveries.accept_shared_reminder,
            self.deliveries.send_reminder_page,
            self.deliveries.finish_notification,
            self.deliveries.cancel_notification,
            self.schedule_activities.create_reminder_schedules,
            self.schedule_activities.create_reminder_schedules_for_subscription,
            self.schedule_activities.delete_reminder_schedules,
            self.schedule_activities.remove_fired_schedule,
            self.sweeps.find_due_work,
            self.sweeps.sweep_outbox,
            self.sweeps.sweep_asked_reminders,
            self.sweeps.sweep_reminders,
            self.upkeep.tell_owners_of_broken_channels,
            self.upkeep.purge_deleted_events,
        ]
