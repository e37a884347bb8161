"""What people state, before it is validated: an error names the wrong field."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from pressbox.core.errors import InvalidInputError
from pressbox.core.texts import MAX_NAME_LENGTH, MAX_TEXT_LENGTH, require_displayable, require_line
from pressbox.delivery.domain.attempts import Level
from pressbox.delivery.domain.channels import MAX_CHANNELS, clean_tags
from pressbox.soonish.domain.events import EventFacts, Visibility, validate
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import validate_offsets
from pressbox.soonish.domain.times import to_utc

MIN_DELAY = timedelta(minutes=1)
MAX_DELAY = timedelta(days=365)


@dataclass(frozen=True)
class EventInput:
    """An event as its organiser states it. Naive times are read in `timezone`.

    A creation that is repeated with the same `request_key` is the same event. A change with a `version` is refused when
    the event has another one by now.
    """

    name: str
    start_date: datetime
    timezone: str
    end_date: datetime | None = None
    description: str = ""
    location: str = ""
    visibility: Visibility = Visibility.PUBLIC
    draft: bool = False
    request_key: str | None = None
    version: int | None = None

    @classmethod
    def of(cls, facts: EventFacts, visibility: Visibility) -> "EventInput":
        """What an event states by now, to change a part of it."""
        return cls(**asdict(facts), visibility=visibility)

    def to_facts(self, now: datetime) -> EventFacts:
        facts = validate(
            EventFacts(
                name=require_line(self.name, "name"),
                start_date=to_utc(self.start_date, self.timezone),
                timezone=self.timezone,
                description=require_displayable(self.description, "description"),
                end_date=to_utc(self.end_date, self.timezone, field="end_date") if self.end_date else None,
                location=require_displayable(self.location, "location"),
            )
        )
        if facts.ends_at <= now:
            wrong = "end_date" if facts.end_date else "start_date"
            raise InvalidInputError("The event would already be over. Choose a later time.", field=wrong)
        return facts


@dataclass(frozen=True)
class Announcement:
    """An announcement. `subscription_ids` None means everybody; an empty choice means nobody and is refused.

    A request that is repeated with the same `request_key` is the same message.
    """

    text: str
    title: str = ""
    level: Level = Level.INFO
    subscription_ids: tuple[int, ...] | None = None
    request_key: str | None = None

    def to_message(self, event_name: str) -> MessageText:
        text, title = (
            require_displayable(self.text, "text").strip(),
            " ".join(require_displayable(self.title, "title").split()),
        )
        if not text:
            raise InvalidInputError("Write what you want to say.", field="text")
        if len(text) > MAX_TEXT_LENGTH:
            raise InvalidInputError(f"At most {MAX_TEXT_LENGTH} characters.", field="text")
        if len(title) > MAX_NAME_LENGTH:
            raise InvalidInputError(f"A title has at most {MAX_NAME_LENGTH} characters.", field="title")
        if self.subscription_ids is not None and not self.subscription_ids:
            raise InvalidInputError("Choose at least one subscriber, or everybody.", field="subscription_ids")
        return MessageText(title or event_name, text)


@dataclass(frozen=True)
class Preferences:
    """How somebody wants to be told about an event. `offsets` None means the default, () no reminders."""

    channel_ids: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    offsets: tuple[timedelta, ...] | None = None

    def validate(self) -> "Preferences":
        ids = tuple(sorted(set(self.channel_ids)))
        if len(ids) > MAX_CHANNELS:
            raise InvalidInputError(f"At most {MAX_CHANNELS} channels.", field="channel_ids")
        return Preferences(ids, clean_tags(self.tags), validate_offsets(self.offsets))


def validate_delay(delay: timedelta) -> timedelta:
    if not MIN_DELAY <= delay <= MAX_DELAY:
        raise InvalidInputError("Choose a time between 1 minute and 365 days from now.", field="delay")
    return delay
