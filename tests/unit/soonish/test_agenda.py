"""What is on and what comes next stands above what is past."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pressbox.soonish.domain.agenda import sort_agenda
from pressbox.soonish.domain.events import EventStatus

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Event:
    name: str
    start_date: datetime
    status: EventStatus = EventStatus.ACTIVE

    @property
    def ends_at(self) -> datetime:
        return self.start_date + timedelta(hours=4)


def test_today_is_first_and_past_and_cancelled_are_last() -> None:
    events = [
        Event("next year", NOW + timedelta(days=300)),
        Event("cancelled tomorrow", NOW + timedelta(days=1), EventStatus.CANCELLED),
        Event("long ago", NOW - timedelta(days=90), EventStatus.COMPLETED),
        Event("on now", NOW - timedelta(hours=1)),
        Event("draft next week", NOW + timedelta(days=7), EventStatus.DRAFT),
        Event("forgotten draft", NOW - timedelta(days=2), EventStatus.DRAFT),
        Event("tonight", NOW + timedelta(hours=7)),
    ]
    assert [event.name for event in sort_agenda(events, NOW)] == [
        "on now",
        "tonight",
        "draft next week",
        "next year",
        "cancelled tomorrow",
        "forgotten draft",
        "long ago",
    ]
