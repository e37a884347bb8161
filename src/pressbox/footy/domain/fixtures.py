"""Fixtures: their status and stage, and what one answer of the API says of them. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pressbox.footy.domain.goals import Cancellation, Observation
from pressbox.footy.domain.policy import FootyPolicy


class Stage(StrEnum):
    """Whether a fixture waits, is polled, or is archived."""

    STAGING = "staging"
    ACTIVE = "active"
    COMPLETED = "completed"


class FixtureStatus(StrEnum):
    """The short codes of API-Football."""

    TO_BE_DEFINED = "TBD"
    NOT_STARTED = "NS"
    FIRST_HALF = "1H"
    HALF_TIME = "HT"
    SECOND_HALF = "2H"
    EXTRA_TIME = "ET"
    BREAK_TIME = "BT"
    PENALTIES = "P"
    SUSPENDED = "SUSP"
    INTERRUPTED = "INT"
    LIVE = "LIVE"
    FULL_TIME = "FT"
    AFTER_EXTRA_TIME = "AET"
    AFTER_PENALTIES = "PEN"
    CANCELLED = "CANC"
    ABANDONED = "ABD"
    AWARDED = "AWD"
    WALK_OVER = "WO"
    POSTPONED = "PST"

    @property
    def stage(self) -> Stage:
        if self in _WAITING:
            return Stage.STAGING
        return Stage.COMPLETED if self in _TERMINAL else Stage.ACTIVE

    @property
    def terminal(self) -> bool:
        return self in _TERMINAL

    @property
    def live(self) -> bool:
        return self.stage is Stage.ACTIVE

    @property
    def stopped(self) -> bool:
        return self in (FixtureStatus.SUSPENDED, FixtureStatus.INTERRUPTED)

    @property
    def has_no_minute(self) -> bool:
        """Whether the clock of a live match stands: the state says it all."""
        return self in (FixtureStatus.HALF_TIME, FixtureStatus.BREAK_TIME, FixtureStatus.PENALTIES)

    @property
    def may_go_on(self) -> bool:
        """Whether extra time or penalties may follow an end that was announced."""
        return self in (FixtureStatus.FULL_TIME, FixtureStatus.AFTER_EXTRA_TIME)

    @property
    def scored_on_the_pitch(self) -> bool:
        """Whether the score counts goals; an awarded one is set at a desk."""
        return self not in (FixtureStatus.AWARDED, FixtureStatus.WALK_OVER)


_WAITING = frozenset({FixtureStatus.TO_BE_DEFINED, FixtureStatus.NOT_STARTED, FixtureStatus.POSTPONED})
_TERMINAL = frozenset(
    {
        FixtureStatus.FULL_TIME,
        FixtureStatus.AFTER_EXTRA_TIME,
        FixtureStatus.AFTER_PENALTIES,
        FixtureStatus.CANCELLED,
        FixtureStatus.ABANDONED,
        FixtureStatus.AWARDED,
        FixtureStatus.WALK_OVER,
    }
)


# What API-Football calls the country of international competitions.
_NO_COUNTRIES = frozenset({"World", "Europe"})


@dataclass(frozen=True)
class Team:
    id: int
    name: str


@dataclass(frozen=True)
class League:
    id: int
    name: str
    country: str = ""
    round: str = ""

    @property
    def country_of_teams(self) -> str:
        """Where its teams are from; international competitions do not tell."""
        return "" if self.country in _NO_COUNTRIES else self.country


@dataclass(frozen=True)
class Dismissal:
    """Somebody was sent off, by a red card or a second yellow one."""

    team_id: int
    team_name: str
    player_name: str
    elapsed: int
    extra: int | None = None


@dataclass(frozen=True)
class LineUp:
    """Who begins for one side, in the order of the answer."""

    team_id: int
    team_name: str
    players: tuple[str, ...]
    formation: str = ""


@dataclass(frozen=True)
class ObservedFixture:
    """One fixture as one answer states it.

    `events` has every goal of the list, also those that do not count. It is None when the
    answer has no list of events (the lists by date), which says nothing of the goals.
    `problems` names what could not be used; the rest counts.
    """

    fixture_id: int
    kickoff: datetime
    status: FixtureStatus
    league: League
    home: Team
    away: Team
    elapsed: int | None = None
    extra: int | None = None
    home_goals: int | None = None
    away_goals: int | None = None
    penalties: tuple[int, int] | None = None
    winner_id: int | None = None
    venue: str = ""
    events: tuple[Observation, ...] | None = None
    cancellations: tuple[Cancellation, ...] = ()
    problems: tuple[str, ...] = ()
    # What else followers hear of. `has_list`: the answer lists what happened, so what is not in it did not.
    half_time: tuple[int, int] | None = None
    dismissals: tuple[Dismissal, ...] = ()
    lineups: tuple[LineUp, ...] = ()
    has_list: bool = False

    def score_of(self, team_id: int) -> int | None:
        """How many goals the score gives to a side; None when it says nothing of goals, as an awarded one."""
        if not self.status.scored_on_the_pitch:
            return None
        return self.home_goals if team_id == self.home.id else self.away_goals


@dataclass(frozen=True)
class Followed:
    """What people follow: every fixture of these leagues, and every fixture of these teams."""

    leagues: frozenset[int]
    teams: frozenset[int] = frozenset()

    def includes(self, fixture: ObservedFixture) -> bool:
        return fixture.league.id in self.leagues or bool({fixture.home.id, fixture.away.id} & self.teams)


def start_of_interval(now: datetime, interval: timedelta) -> datetime:
    """When the current interval began, counted from midnight: with 15 minutes, 14:44 belongs to 14:30."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + (now - midnight) // interval * interval


def should_activate(
    kickoff: datetime, status: FixtureStatus, now: datetime, ahead: timedelta, quiet: bool = False
) -> bool:
    """Whether a waiting fixture is polled from now on. A postponed or stopped one waits until it says otherwise.

    So does one that was polled before and is `quiet`: the API has said nothing new of it for long.
    """
    if status is FixtureStatus.POSTPONED or status.stopped or (quiet and not status.terminal):
        return False
    return status.live or status.terminal or kickoff <= now + ahead


def can_archive(
    status: FixtureStatus,
    terminal_polls: int,
    unchanged: timedelta,
    agrees: bool,
    goals_open: int,
    policy: FootyPolicy,
) -> bool:
    """Whether a fixture was seen to be over long enough, without news of it, and no goal is open.

    The last goal is often listed some polls after the whistle, so a few more follow it; many more while the goals that
    stand are not those of the score.
    """
    if not status.terminal or goals_open:
        return False
    # An answer that changes for ever, as by a clock that runs on, must not keep a match open.
    if status.may_go_on and unchanged < policy.end_patience and terminal_polls < policy.polls_to_agree:
        return False
    return terminal_polls >= (policy.polls_to_end if agrees else policy.polls_to_agree)
