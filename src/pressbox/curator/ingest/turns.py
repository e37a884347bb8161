"""Hands out the turns of one host. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class TurnRequest:
    """Who asks waits until `latest`, and takes up `delay` of the host's time."""

    delay: timedelta
    latest: datetime


def hand_out(
    requests: Sequence[TurnRequest], free_at: datetime, now: datetime
) -> tuple[Sequence[datetime], datetime | None]:
    """Return a time for each request, and from when on the host is free then; None when nobody took a turn.

    Only who waits for a turn takes it: the others are told when it may be theirs, one after another, and ask again.
    """
    first = max(free_at, now)
    following = first
    taken: dict[int, datetime] = {}
    for place, request in enumerate(requests):
        if following <= request.latest:
            taken[place] = following
            following += request.delay
    free = following
    times = []
    for place, request in enumerate(requests):
        if place in taken:
            times.append(taken[place])
        else:
            times.append(following)
            following += request.delay
    return times, free if taken else None
