"""What people state, before it is checked: each wrong field is named."""

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import datetime, timedelta

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.delivery import Level
from pressbox.soonish.domain.events import LONGEST_NAME, LONGEST_TEXT, EventFacts, Visibility, validated
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import checked_offsets
from pressbox.soonish.domain.times import to_utc

LONGEST_TAG = 40
MOST_TAGS = 20
MOST_CHANNELS = 50
LONGEST_URL = 2_000
LONGEST_DELAY = timedelta(days=365)
SHORTEST_DELAY = timedelta(minutes=1)


@dataclass(frozen=True)
class EventInput:
    """An event as its organiser states it. Naive times are read in `timezone`."""

    name: str
    start_date: datetime
    timezone: str
    end_date: datetime | None = None
    description: str = ""
    location: str = ""
    visibility: Visibility = Visibility.PUBLIC
    draft: bool = False

    def facts(self, now: datetime) -> EventFacts:
        facts = validated(
            EventFacts(
                name=_shown(self.name, "name"),
                start_date=to_utc(self.start_date, self.timezone),
                timezone=self.timezone,
                description=_shown(self.description, "description"),
                end_date=to_utc(self.end_date, self.timezone, field="end_date") if self.end_date else None,
                location=_shown(self.location, "location"),
            )
        )
        if facts.ends_at <= now:
            wrong = "end_date" if facts.end_date else "start_date"
            raise InvalidInputError(
                "The event would be over already. Choose a time that is still to come.", field=wrong
            )
        return facts


@dataclass(frozen=True)
class Announcement:
    """Something to say. `subscription_ids` None means everybody; an empty choice means nobody and is refused.

    `request_key` makes a repeated request the same message.
    """

    text: str
    title: str = ""
    level: Level = Level.INFO
    subscription_ids: tuple[int, ...] | None = None
    request_key: str | None = None

    def message(self, event_name: str) -> MessageText:
        text, title = _shown(self.text, "text").strip(), " ".join(_shown(self.title, "title").split())
        if not text:
            raise InvalidInputError("Write what you want to say.", field="text")
        if len(text) > LONGEST_TEXT:
            raise InvalidInputError(f"At most {LONGEST_TEXT} characters.", field="text")
        if len(title) > LONGEST_NAME:
            raise InvalidInputError(f"A title has at most {LONGEST_NAME} characters.", field="title")
        if self.subscription_ids is not None and not self.subscription_ids:
            raise InvalidInputError("Choose at least one subscriber, or everybody.", field="subscription_ids")
        return MessageText(title or event_name, text)


@dataclass(frozen=True)
class Choice:
    """How somebody wants to hear of an event. `offsets` None means the default, () no reminders."""

    channel_ids: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    offsets: tuple[timedelta, ...] | None = None

    def checked(self) -> "Choice":
        ids = tuple(sorted(set(self.channel_ids)))
        if len(ids) > MOST_CHANNELS:
            raise InvalidInputError(f"At most {MOST_CHANNELS} channels.", field="channel_ids")
        return Choice(ids, clean_tags(self.tags), checked_offsets(self.offsets))


@dataclass(frozen=True)
class ChannelInput:
    """A channel as its owner states it. On a change, `url` None keeps the address that is there."""

    name: str
    url: str | None = dataclass_field(default=None, repr=False)
    tags: tuple[str, ...] = ()
    is_active: bool = True

    def checked(self) -> "ChannelInput":
        name = " ".join(_shown(self.name, "name").split())
        if not name:
            raise InvalidInputError("Give the channel a name.", field="name")
        if len(name) > LONGEST_NAME:
            raise InvalidInputError(f"A name has at most {LONGEST_NAME} characters.", field="name")
        url = clean_url(self.url) if self.url is not None else None
        return ChannelInput(name, url, clean_tags(self.tags), self.is_active)


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    cleaned = sorted({" ".join(_shown(tag, "tags").split()).lower() for tag in tags} - {""})
    if len(cleaned) > MOST_TAGS:
        raise InvalidInputError(f"At most {MOST_TAGS} tags.", field="tags")
    if any(len(tag) > LONGEST_TAG for tag in cleaned):
        raise InvalidInputError(f"A tag has at most {LONGEST_TAG} characters.", field="tags")
    return tuple(cleaned)


def clean_url(url: str) -> str:
    cleaned = _shown(url, "url").strip()
    if not cleaned or len(cleaned) > LONGEST_URL or "\n" in cleaned:
        raise InvalidInputError("This is not an Apprise address. It has the form ntfy://ntfy.sh/topic.", field="url")
    return cleaned


def checked_delay(delay: timedelta) -> timedelta:
    if not SHORTEST_DELAY <= delay <= LONGEST_DELAY:
        raise InvalidInputError("Choose a time between 1 minute and 365 days from now.", field="delay")
    return delay


def _shown(text: str, field: str) -> str:
    # PostgreSQL keeps no NUL, and half a surrogate pair cannot be sent to anybody.
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError("There are characters that cannot be shown.", field=field)
    return text
