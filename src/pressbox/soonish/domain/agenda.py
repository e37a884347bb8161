"""The order in which people look at events: what is on and what comes next, then what is past. Pure."""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol, TypeVar

from pressbox.soonish.domain.events import EventStatus


class Listed(Protocol):
    @property
    def start_date(self) -> datetime: ...

    @property
    def ends_at(self) -> datetime: ...

    @property
    def status(self) -> EventStatus: ...


Event = TypeVar("Event", bound=Listed)


def is_past(event: Listed, now: datetime) -> bool:
    """Over, cancelled, or a draft whose time has gone."""
    return event.status.is_over or event.ends_at <= now


def may_reopen(event: Listed, now: datetime) -> bool:
    """Cancelled, and not yet over."""
    return event.status is EventStatus.CANCELLED and event.ends_at > now


def sort_agenda(events: Iterable[Event], now: datetime) -> list[Event]:
    """What is on or comes next first; below it what is past, the latest first."""
    return sorted(events, key=lambda event: _place(event, now))


def _place(event: Listed, now: datetime) -> tuple[bool, float]:
    past, moment = is_past(event, now), event.start_date.timestamp()
    return past, -moment if past else moment
