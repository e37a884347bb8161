"""The forms of events as browsers send them, and their translation into the inputs of the service."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Form

from pressbox.core.errors import InvalidInputError
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS, MAX_OFFSET
from pressbox.soonish.service.inputs import Announcement, Preferences

Text = Annotated[str, Form()]
Numbers = Annotated[list[int] | None, Form()]
Texts = Annotated[list[str] | None, Form()]

OFFERED_OFFSETS = (86_400, 3_600, 1_800)
UNITS = (60, 3_600, 86_400)


@dataclass(frozen=True)
class OffsetsForm:
    """Reminders: the offered ones that were chosen, and one typed by hand."""

    offset: Numbers = None
    own_amount: Text = ""
    own_unit: Annotated[int, Form()] = 60

    def to_offsets(self) -> tuple[timedelta, ...]:
        chosen = tuple(timedelta(seconds=seconds) for seconds in self.offset or ())
        if not self.own_amount.strip():
            return chosen
        return (*chosen, parse_duration(self.own_amount, self.own_unit, field="offsets"))


def parse_duration(amount: str, unit: int, field: str) -> timedelta:
    """Read a time such as 25 minutes: the number as typed, and the seconds of its unit."""
    text = amount.strip()
    longest = int(MAX_OFFSET.total_seconds())
    if unit not in UNITS or not text.isascii() or not text.isdigit() or int(text[:9]) * unit > longest:
        raise InvalidInputError("Give a whole number of minutes, hours or days, up to 365 days.", field=field)
    return timedelta(seconds=int(text[:9]) * unit)


def offset_choices(chosen: Iterable[int]) -> Sequence[int]:
    """The offsets to offer: the usual ones and those that this person has chosen, largest first."""
    return sorted({*OFFERED_OFFSETS, *chosen}, reverse=True)


def offset_seconds(offsets: Iterable[timedelta] | None) -> tuple[int, ...]:
    return tuple(int(offset.total_seconds()) for offset in (DEFAULT_OFFSETS if offsets is None else offsets))


@dataclass(frozen=True)
class PreferencesForm:
    """How somebody wants to be told about an event."""

    channel: Numbers = None
    tag: Texts = None
    offset: Numbers = None
    own_amount: Text = ""
    own_unit: Annotated[int, Form()] = 60

    def to_input(self) -> Preferences:
        offsets = OffsetsForm(self.offset, self.own_amount, self.own_unit).to_offsets()
        return Preferences(tuple(self.channel or ()), tuple(self.tag or ()), offsets)


@dataclass(frozen=True)
class AnnouncementForm:
    """The form of an announcement on the board."""

    title: Text = ""
    text: Text = ""
    level: Text = Level.INFO.value
    to: Text = "all"
    subscription: Numbers = None
    key: Text = ""
    # Choosing among many people: the words to find them by, and which button was pressed instead of "Send".
    find: Text = ""
    choose: Text = ""

    @property
    def is_choosing(self) -> bool:
        return bool(self.choose)

    @property
    def page_after(self) -> int:
        """After whom the next page of people begins; 0 for a new search."""
        return int(self.choose) if self.choose.isascii() and self.choose.isdigit() and len(self.choose) < 19 else 0

    @property
    def subscription_ids(self) -> tuple[int, ...]:
        return tuple(self.subscription or ())

    @property
    def recipients(self) -> tuple[int, ...] | None:
        return self.subscription_ids if self.to == "some" else None

    def to_input(self) -> Announcement:
        try:
            level = Level(self.level)
        except ValueError as error:
            raise InvalidInputError("Choose how important it is.", field="level") from error
        return Announcement(
            text=self.text,
            title=self.title,
            level=level,
            subscription_ids=self.recipients,
            request_key=make_request_key(
                self.key, self.title, self.text, self.level, self.to, *map(str, self.subscription_ids)
            ),
        )


def make_request_key(key: str, *stated: str) -> str | None:
    """Equal for a form that is sent twice; another one when something else was typed after going back to it."""
    return hashlib.sha256("\0".join((key, *stated)).encode()).hexdigest()[:32] if key else None


def split_tags(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
