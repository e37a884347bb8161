"""What a fixture is as an event. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pressbox.core.notices.kinds import DEFAULT_REMINDERS
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.ids import FIXTURE_SUBJECT, match_path
from pressbox.footy.service.coming import ComingFixture
from pressbox.soonish.domain.events import EventFacts
from pressbox.soonish.service.kept_events import Follower, KeptEvent, KeptState

# With half-time and added time; extra time is rare.
MATCH_LENGTH = timedelta(hours=2)

_WAITING = (FixtureStatus.NOT_STARTED, FixtureStatus.TO_BE_DEFINED)
_NOT_PLAYED = (FixtureStatus.CANCELLED, FixtureStatus.AWARDED, FixtureStatus.WALK_OVER)


@dataclass(frozen=True)
class FollowedBy:
    """One follow of a fixture: of either team, or of the fixture itself."""

    user_id: int
    reminders: Sequence[int] | None
    muted: bool
    timezone: str


def build_event(fixture: ComingFixture) -> KeptEvent | None:
    """The event of a fixture; None once it is being played or is over, when nothing of it moves any more."""
    state = _find_state(fixture.status)
    if state is None:
        return None
    return KeptEvent(
        subject=f"{FIXTURE_SUBJECT}{fixture.id}",
        path=match_path(fixture.id),
        facts=EventFacts(
            name=f"{fixture.home_name} – {fixture.away_name}",
            start_date=fixture.kickoff,
            end_date=fixture.kickoff + MATCH_LENGTH,
            timezone="UTC",
            description=fixture.competition,
            location=fixture.venue,
        ),
        state=state,
        followed=tuple(fixture.subjects),
    )


def _find_state(status: FixtureStatus) -> KeptState | None:
    if status in _WAITING:
        return KeptState.TAKES_PLACE
    if status is FixtureStatus.POSTPONED:
        return KeptState.POSTPONED
    return KeptState.CALLED_OFF if status in _NOT_PLAYED else None


def join_follows(follows: Iterable[FollowedBy]) -> Sequence[Follower]:
    """Each person once, with the reminders of all their follows. What is muted in one of them is silent."""
    by_person: dict[int, list[FollowedBy]] = {}
    for follow in follows:
        by_person.setdefault(follow.user_id, []).append(follow)
    return [
        Follower(
            user_id=user_id,
            offsets=tuple(sorted({offset for one in own for offset in _offsets(one)}, reverse=True)),
            muted=any(one.muted for one in own),
            timezone=next((one.timezone for one in own if one.timezone), ""),
        )
        for user_id, own in sorted(by_person.items())
    ]


def _offsets(follow: FollowedBy) -> Sequence[timedelta]:
    if follow.reminders is None:
        return DEFAULT_REMINDERS
    return [timedelta(seconds=seconds) for seconds in follow.reminders]
