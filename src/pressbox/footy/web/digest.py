"""The part of matches in a digest: results of what a person follows, each with its best clip."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, or_, select

from pressbox.core.audiences.members import Viewer
from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.core.digests import DigestLine, DigestLink, DigestSection, DigestSpan
from pressbox.core.notices.follows import Follow, PersonalFollows
from pressbox.core.spoilers.choice import SEES_ALL
from pressbox.footy.adapters.rows import FixtureRow
from pressbox.footy.adapters.views import fixture_views
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.views import ClipView, FixtureView, GoalView
from pressbox.footy.ids import FIXTURE_SUBJECT, LEAGUE_SUBJECT, TEAM_SUBJECT, match_path

MOST_RESULTS = 30
# A match is archived some hours after its kick-off. One that was over long before it was first seen is no news.
LONGEST_MATCH = timedelta(hours=24)
_ENDED = (
    FixtureStatus.FULL_TIME,
    FixtureStatus.AFTER_EXTRA_TIME,
    FixtureStatus.AFTER_PENALTIES,
    FixtureStatus.AWARDED,
    FixtureStatus.WALK_OVER,
)


async def write_section(database: Database, viewer: Viewer, span: DigestSpan) -> DigestSection | None:
    """Matches that were finished in this time. What concerns something muted stays silent."""
    follows = [one for one in await PersonalFollows(database).list(viewer.user_id) if one.subject.startswith("footy.")]
    heard = _Subjects.of(follow for follow in follows if not follow.muted)
    muted = _Subjects.of(follow for follow in follows if follow.muted)
    if not heard:
        return None
    statement = (
        select(FixtureRow)
        .where(
            FixtureRow.stage == Stage.COMPLETED,
            FixtureRow.status.in_([status.value for status in _ENDED]),
            FixtureRow.completed_at > span.since,
            FixtureRow.completed_at <= span.until,
            FixtureRow.kickoff > span.since - LONGEST_MATCH,
            heard.concern(),
            ~muted.concern(),
        )
        .order_by(FixtureRow.kickoff.desc(), FixtureRow.id)
        .limit(MOST_RESULTS)
    )
    async with database.unit_of_work() as work:
        views = await fixture_views(work.session, list(await work.session.scalars(statement)), SEES_ALL)
    names = {follow.subject: follow.name for follow in follows}
    lines = [_line(fixture, names) for fixture in views]
    return DigestSection("Results", _summary(lines), lines) if lines else None


@dataclass(frozen=True)
class _Subjects:
    teams: Sequence[int]
    leagues: Sequence[int]
    fixtures: Sequence[int]

    @classmethod
    def of(cls, follows: Iterable[Follow]) -> "_Subjects":
        subjects = [follow.subject for follow in follows]
        return cls(*(_ids(subjects, prefix) for prefix in (TEAM_SUBJECT, LEAGUE_SUBJECT, FIXTURE_SUBJECT)))

    def __bool__(self) -> bool:
        return bool(self.teams or self.leagues or self.fixtures)

    def concern(self) -> ColumnElement[bool]:
        return or_(
            FixtureRow.home_id == one_of(self.teams),
            FixtureRow.away_id == one_of(self.teams),
            FixtureRow.league_id == one_of(self.leagues),
            FixtureRow.id == one_of(self.fixtures),
        )


def _ids(subjects: Sequence[str], prefix: str) -> Sequence[int]:
    return [int(subject.removeprefix(prefix)) for subject in subjects if subject.startswith(prefix)]


def _summary(lines: Sequence[DigestLine]) -> str:
    return "One result of what you follow." if len(lines) == 1 else f"{len(lines)} results of what you follow."


def _line(fixture: FixtureView, names: dict[str, str]) -> DigestLine:
    best = _best_clip(fixture)
    closest = (
        f"{TEAM_SUBJECT}{fixture.home.team_id}",
        f"{TEAM_SUBJECT}{fixture.away.team_id}",
        f"{FIXTURE_SUBJECT}{fixture.fixture_id}",
        f"{LEAGUE_SUBJECT}{fixture.league_id}",
    )
    name = next((names[subject] for subject in closest if subject in names), "")
    return DigestLine(
        title=_result(fixture),
        path=match_path(fixture.fixture_id),
        detail=fixture.league_name,
        why=f"You follow {name}." if name else "",
        picture=best[1].poster_url if best else "",
        more=[DigestLink(f"Watch {best[0].player_name}, {best[0].minute}′", best[1].page_url)] if best else (),
        subject=f"{FIXTURE_SUBJECT}{fixture.fixture_id}",
        known_at=fixture.completed_at,
        covered=f"{fixture.home.name} – {fixture.away.name} has ended.",
    )


def _result(fixture: FixtureView) -> str:
    home, away = fixture.home, fixture.away
    if home.goals is None or away.goals is None:
        return f"{home.name} – {away.name} has ended."
    result = f"{home.name} {home.goals}–{away.goals} {away.name}"
    if fixture.status is FixtureStatus.AFTER_PENALTIES and home.penalties is not None and away.penalties is not None:
        return f"{result}, {home.penalties}–{away.penalties} on penalties"
    return result


def _best_clip(fixture: FixtureView) -> tuple[GoalView, ClipView] | None:
    """Verified before unverified, then the one that was found most often."""
    found = [(goal, goal.clips[0]) for goal in fixture.goals if goal.clips and goal.scorer_known]
    return max(found, key=lambda one: (one[1].timestamp_verified, one[1].popularity), default=None)
