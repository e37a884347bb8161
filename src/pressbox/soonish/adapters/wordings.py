"""Writes messages in the language and time zone of each recipient, when they are sent and not when they were accepted.

What an organiser wrote stays as it is. Whoever reads English in the zone of the event gets the text of the ledger.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from babel.support import NullTranslations
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.web import times
from pressbox.core.web.languages import DEFAULT_LANGUAGE, LANGUAGES, locale_of, translations
from pressbox.delivery.domain.fitting import show_difference
from pressbox.soonish.adapters.event_rows import facts_from_json, read_facts
from pressbox.soonish.adapters.recipients import one_of
from pressbox.soonish.adapters.rows import EventRow, EventVersionRow, NotificationRow, SubscriptionRow
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import OPEN_VISIBILITIES, EventFacts, list_changed_fields
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.domain.messages import NEW_DATE, REASONS, MessageText, write_reminder
from pressbox.soonish.domain.reminders import parse_offset
from pressbox.soonish.ids import PATH
from pressbox.soonish.ports import DueDelivery, Wording

PACKAGE = "pressbox.soonish"
# Every sentence of a message; a test demands them all in every language.
TITLES = {
    Cause.CREATED: "Event created: %(name)s",
    Cause.UPDATED: "Event update: %(name)s",
    Cause.CANCELLED: "Event cancelled: %(name)s",
    Cause.REOPENED: "Event takes place after all: %(name)s",
    Cause.ADHOC: "Reminder: %(name)s",
}
OPENINGS = {
    Cause.CREATED: "Your event is active.",
    Cause.UPDATED: "These details have changed:",
    Cause.CANCELLED: "The organiser has cancelled this event.",
    Cause.REOPENED: "The organiser has taken back the cancellation.",
    Cause.ADHOC: "You asked to be reminded.",
}
LABELS = {
    "name": "Name",
    "start_date": "Start",
    "timezone": "Time zone",
    "description": "Description",
    "end_date": "End",
    "location": "Location",
}
TODAY, TOMORROW = "%(name)s is today at %(time)s", "%(name)s is tomorrow"
STARTS_IN, STARTED = "%(name)s starts in %(left)s", "%(name)s has started"
WHEN, WHERE, FOR_YOU, NONE = "When: %(when)s", "Where: %(where)s", "For you: %(when)s", "none"
UNITS = (
    ("%(count)s day", "%(count)s days", timedelta(days=1)),
    ("%(count)s hour", "%(count)s hours", timedelta(hours=1)),
    ("%(count)s minute", "%(count)s minutes", timedelta(minutes=1)),
)
EVENT_PAGE, CHANGE, WHY, LEAVE = (
    "Event page: %(url)s",
    "Change your subscription: %(url)s",
    "Why did I get this? Mute it here: %(url)s",
    "Unsubscribe: %(url)s",
)
FAILING = "Earlier messages could not be delivered to you: something failed since %(when)s."
CONFIRM_TITLE = "Confirm: %(name)s"
CONFIRM_BODY = (
    "Somebody, most likely you, wants to be told about %(name)s.\n\nConfirm it here:\n%(url)s\n\n"
    "If it was not you, do nothing: you will get no other message."
)
MANAGE_TITLE = "Your subscription: %(name)s"
MANAGE_BODY = "You are already subscribed to %(name)s.\n\nChange your subscription or leave:\n%(url)s"
SENTENCES = (
    *TITLES.values(),
    *OPENINGS.values(),
    *(sentence for both in (*REASONS.values(), NEW_DATE) for sentence in both),
    *LABELS.values(),
    *(TODAY, TOMORROW, STARTS_IN, STARTED, WHEN, WHERE, FOR_YOU, NONE),
    *(words for one, many, _ in UNITS for words in (one, many)),
    *(EVENT_PAGE, CHANGE, WHY, LEAVE, FAILING),
    *(CONFIRM_TITLE, CONFIRM_BODY, MANAGE_TITLE, MANAGE_BODY),
)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Person:
    """How a recipient is addressed. An empty zone is that of the event."""

    language: str = DEFAULT_LANGUAGE
    timezone: str = ""
    has_account: bool = False


@dataclass(frozen=True)
class Occasion:
    """What a message is about. `before` is what the event said before an update; `offset` that of a reminder."""

    cause: Cause
    facts: EventFacts
    before: EventFacts | None = None
    offset: timedelta = timedelta()
    slug: str = ""
    is_public: bool = True
    # Why an event without an organiser does not take place; `kept` when it has none.
    reason: str = ""
    kept: bool = False


class SqlWordings:
    def __init__(self, database: Database, links: SignedLinks) -> None:
        self._database = database
        self._links = links

    async def load(self, notification_id: int, text: MessageText, due: Sequence[DueDelivery]) -> Wording:
        async with self._database.unit_of_work() as work:
            occasion = await _load_occasion(work.session, notification_id)
            people = await _load_people(work.session, {item.subscription_id for item in due})
        return _Wording(text, occasion, people, self._links)


@dataclass(frozen=True)
class _Wording:
    text: MessageText
    occasion: Occasion
    people: Mapping[int, Person]
    links: SignedLinks = field(repr=False)

    def write(self, item: DueDelivery, now: datetime) -> MessageText:
        person = self.people.get(item.subscription_id, Person())
        text = write_text(self.text, self.occasion, person, now)
        if item.failing_since is None:
            return text
        words = _Words(person.language)
        when = words.say_time(item.failing_since, person.timezone or self.occasion.facts.timezone)
        return replace(text, body=f"{text.body}\n\n{words(FAILING, when=when)}")

    def list_links(self, item: DueDelivery) -> tuple[str, ...]:
        person, occasion = self.people.get(item.subscription_id, Person()), self.occasion
        words = _Words(person.language)
        own_page = self.links.page_url(f"{PATH}/subscriptions/{item.subscription_id}")
        lines = [
            words(CHANGE, url=own_page if person.has_account else self.links.manage_url(item.subscription_id)),
            words(WHY, url=self.links.why_url(item.delivery_id)),
            words(LEAVE, url=self.links.unsubscribe_url(item.subscription_id)),
        ]
        if occasion.slug and (occasion.is_public or person.has_account):
            lines.insert(0, words(EVENT_PAGE, url=self.links.page_url(f"{PATH}/{occasion.slug}")))
        return tuple(lines)


def write_confirmation(language: str, event_name: str, url: str) -> MessageText:
    words = _Words(_known(language))
    return MessageText(words(CONFIRM_TITLE, name=event_name), words(CONFIRM_BODY, name=event_name, url=url))


def write_manage_link(language: str, event_name: str, url: str) -> MessageText:
    words = _Words(_known(language))
    return MessageText(words(MANAGE_TITLE, name=event_name), words(MANAGE_BODY, name=event_name, url=url))


class _Words:
    """The sentences of one language."""

    def __init__(self, language: str) -> None:
        self._catalogue: NullTranslations = translations(language, (PACKAGE,))
        self._locale = locale_of(language)

    def __call__(self, sentence: str, **values: object) -> str:
        return str(self._catalogue.gettext(sentence)) % values

    def say_time(self, moment: datetime, zone_name: str) -> str:
        return f"{times.in_zone(moment, self._locale, times.zone_of(zone_name))} ({zone_name})"

    def say_span(self, span: timedelta) -> str:
        """At most two units: 1 hour 30 minutes."""
        parts = []
        for one, many, size in UNITS:
            count, span = divmod(span, size)
            if count:
                parts.append(str(self._catalogue.ngettext(one, many, count)) % {"count": count})
        return " ".join(parts[:2]) or self(UNITS[-1][0], count=1)


def write_text(stored: MessageText, occasion: Occasion, person: Person, now: datetime) -> MessageText:
    """The message for this person, true at this moment."""
    facts = occasion.facts
    zone = person.timezone or facts.timezone
    if occasion.cause is Cause.ANNOUNCEMENT or (occasion.cause is Cause.UPDATED and occasion.before is None):
        return stored
    is_same_zone = _offset_at(facts.start_date, zone) == _offset_at(facts.start_date, facts.timezone)
    if person.language == DEFAULT_LANGUAGE and is_same_zone:
        # How much time is left changes while many are written to.
        return write_reminder(facts, occasion.offset, now) if occasion.cause is Cause.REMINDER else stored
    words = _Words(person.language)
    if occasion.cause is Cause.REMINDER:
        title = _say_start(words, occasion, zone, now)
        opening = f"{title}."
    else:
        named, said = _find_sentences(occasion)
        title, opening = words(named, name=facts.name), words(said)
    if occasion.cause is Cause.UPDATED and occasion.before is not None:
        lines = _say_changes(words, occasion.before, facts)
        if not is_same_zone and occasion.before.start_date != facts.start_date:
            lines = [*lines, words(FOR_YOU, when=words.say_time(facts.start_date, zone))]
        return MessageText(title, "\n".join((opening, *lines)))
    lines = [words(WHEN, when=words.say_time(facts.start_date, facts.timezone))]
    if not is_same_zone:
        lines.append(words(FOR_YOU, when=words.say_time(facts.start_date, zone)))
    if facts.location:
        lines.append(words(WHERE, where=facts.location))
    return MessageText(title, "\n".join((opening, "", *lines)))


def _find_sentences(occasion: Occasion) -> tuple[str, str]:
    """Title and first sentence. What the instance keeps has no organiser of whom to speak."""
    if occasion.cause is Cause.CANCELLED and occasion.reason in REASONS:
        return REASONS[occasion.reason]
    if occasion.cause is Cause.REOPENED and occasion.kept:
        return NEW_DATE
    return TITLES[occasion.cause], OPENINGS[occasion.cause]


def _say_start(words: _Words, occasion: Occasion, zone_name: str, now: datetime) -> str:
    """By the days of the calendar for a day before, otherwise by the time that is left."""
    facts, zone = occasion.facts, times.zone_of(zone_name)
    start, left = facts.start_date.astimezone(zone), facts.start_date - now
    if left <= timedelta():
        return words(STARTED, name=facts.name)
    days = (start.date() - now.astimezone(zone).date()).days
    if occasion.offset == DAY and days in (0, 1):
        return words(TOMORROW if days else TODAY, name=facts.name, time=f"{start:%H:%M}")
    on_time = abs(occasion.offset - left) < timedelta(minutes=1)
    span = occasion.offset if on_time else timedelta(minutes=max(1, round(left / timedelta(minutes=1))))
    return words(STARTS_IN, name=facts.name, left=words.say_span(span))


def _say_changes(words: _Words, old: EventFacts, new: EventFacts) -> list[str]:
    def say(value: object) -> str:
        return words.say_time(value, new.timezone) if isinstance(value, datetime) else str(value or "")

    lines = []
    for name in list_changed_fields(old, new):
        before, after = show_difference(say(getattr(old, name)), say(getattr(new, name)))
        lines.append(f"• {words(LABELS[name])}: {before or words(NONE)} → {after or words(NONE)}")
    return lines


def _offset_at(moment: datetime, zone_name: str) -> timedelta | None:
    return moment.astimezone(times.zone_of(zone_name)).utcoffset()


async def _load_occasion(session: AsyncSession, notification_id: int) -> Occasion:
    row, event = (
        (
            await session.execute(
                select(NotificationRow, EventRow)
                .join(EventRow, EventRow.id == NotificationRow.event_id)
                .where(NotificationRow.id == notification_id)
            )
        )
        .tuples()
        .one()
    )
    occasion = Occasion(
        Cause(row.cause),
        read_facts(event),
        slug=event.slug,
        is_public=event.visibility in OPEN_VISIBILITIES,
        reason=str(row.occasion.get("reason", "")),
        kept=event.subject is not None,
    )
    if occasion.cause is Cause.REMINDER:
        return replace(occasion, offset=parse_offset(row.version))
    if occasion.cause is Cause.UPDATED and "from_version" in row.occasion:
        before = await session.get(EventVersionRow, (event.id, row.occasion["from_version"]))
        after = await session.get(EventVersionRow, (event.id, int(row.version)))
        if before is not None and after is not None:
            return replace(occasion, facts=facts_from_json(after.facts), before=facts_from_json(before.facts))
    return occasion


async def _load_people(session: AsyncSession, subscription_ids: Iterable[int]) -> Mapping[int, Person]:
    row = SubscriptionRow
    found = await session.execute(
        select(row.id, UserRow.language, row.language, row.timezone, row.user_id)
        .outerjoin(UserRow, UserRow.id == row.user_id)
        .where(row.id == one_of(list(subscription_ids)))
    )
    return {
        number: Person(_known(account or own), zone, has_account=user_id is not None)
        for number, account, own, zone, user_id in found.tuples()
    }


def _known(language: str) -> str:
    return language if language in LANGUAGES else DEFAULT_LANGUAGE
