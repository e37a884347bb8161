"""Tells followers what happens in a match beside its goals: line-ups, kick-off, red cards, half-time and the end.

Whoever writes what an answer said of a match calls `tell_of_progress` in the same transaction, with the statuses from
before. Something is told once, when it becomes true; what is corrected later changes what was told, and what turns out
to be wrong is taken back. A match that was over when it was first seen is told to nobody.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import select

from pressbox.core.db.arrays import one_of_texts
from pressbox.core.db.database import UnitOfWork
from pressbox.core.notices.publish import Notice, publish, withdraw
from pressbox.core.notices.rows import NoticeRow
from pressbox.footy.domain.fixtures import Dismissal, FixtureStatus, LineUp, ObservedFixture, Stage
from pressbox.footy.domain.notice_kinds import FULL_TIME, GOAL, HALF_TIME, KICK_OFF, KINDS, LINE_UPS, RED_CARD
from pressbox.footy.ids import FIXTURE_SUBJECT, LEAGUE_SUBJECT, TEAM_SUBJECT, match_path

_OPTIONAL = frozenset(kind.kind for kind in KINDS if not kind.by_default)
_FIRST_HALF = (FixtureStatus.FIRST_HALF, FixtureStatus.LIVE)
_PLAYED = (FixtureStatus.FULL_TIME, FixtureStatus.AFTER_EXTRA_TIME, FixtureStatus.AFTER_PENALTIES)
_BEFORE_HALF_TIME = (*_FIRST_HALF, FixtureStatus.NOT_STARTED, FixtureStatus.TO_BE_DEFINED)


@dataclass
class _Telling:
    """`fresh` is told; `again` changes what was told and is told to nobody otherwise; `gone` is taken back."""

    fresh: list[Notice] = field(default_factory=list)
    again: list[Notice] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


async def tell_of_progress(
    work: UnitOfWork, before: Mapping[int, str], observed: Iterable[ObservedFixture], now: datetime
) -> None:
    """`before` are the statuses of the fixtures that were written, from before they were."""
    written = [fixture for fixture in observed if fixture.fixture_id in before]
    begun = [fixture for fixture in written if _has_begun(fixture, FixtureStatus(before[fixture.fixture_id]))]
    told = await _load_told(work, [_subject(fixture) for fixture in begun])
    telling = _Telling()
    for fixture in written:
        _decide(telling, fixture, FixtureStatus(before[fixture.fixture_id]), told, now)
    corrected = [notice for notice in telling.again if notice.key in told]
    await publish(work, [*telling.fresh, *corrected])
    await withdraw(work, [key for key in telling.gone if key in told])


def _has_begun(fixture: ObservedFixture, before: FixtureStatus) -> bool:
    """Whether something may have been told of it, also when it turns out not to have begun."""
    return Stage.STAGING not in (fixture.status.stage, before.stage) or fixture.status.stage is not before.stage


async def _load_told(work: UnitOfWork, subjects: Collection[str]) -> Collection[str]:
    """The keys of what was told of these matches and stands."""
    if not subjects:
        return frozenset()
    statement = select(NoticeRow.key).where(
        NoticeRow.subject == one_of_texts(subjects), NoticeRow.kind != GOAL, NoticeRow.application == "footy"
    )
    return frozenset(await work.session.scalars(statement))


def _decide(
    telling: _Telling, fixture: ObservedFixture, before: FixtureStatus, told: Collection[str], now: datetime
) -> None:
    status = fixture.status
    if before.terminal and not status.terminal:
        telling.gone.append(_key(FULL_TIME, fixture))
    if status.stage is Stage.STAGING:
        telling.gone.append(_key(KICK_OFF, fixture))
        if fixture.lineups and status is not FixtureStatus.POSTPONED:
            telling.fresh.append(_write_line_ups(fixture, now))
        return
    if before.stage is Stage.STAGING and status in _FIRST_HALF:
        telling.fresh.append(_write_kick_off(fixture, now))
    if status in _BEFORE_HALF_TIME:
        telling.gone.append(_key(HALF_TIME, fixture))
    elif fixture.half_time is not None:
        is_new = status is FixtureStatus.HALF_TIME and before in _BEFORE_HALF_TIME
        (telling.fresh if is_new else telling.again).append(_write_half_time(fixture, fixture.half_time, now))
    if status in _PLAYED:
        (telling.again if before.terminal else telling.fresh).append(_write_full_time(fixture, now))
    _decide_cards(telling, fixture, before, told, now)


def _decide_cards(
    telling: _Telling, fixture: ObservedFixture, before: FixtureStatus, told: Collection[str], now: datetime
) -> None:
    """An answer without any event says nothing of cards: the list is missing now and then."""
    if not fixture.has_list:
        return
    shown = [_write_card(fixture, card, now) for card in fixture.dismissals]
    (telling.again if before.terminal else telling.fresh).extend(shown)
    prefix, standing = f"{_key(RED_CARD, fixture)}.", {notice.key for notice in shown}
    telling.gone.extend(key for key in told if key.startswith(prefix) and key not in standing)


def _write_kick_off(fixture: ObservedFixture, now: datetime) -> Notice:
    return _notice(KICK_OFF, fixture, f"Kick-off: {_match(fixture)}", now)


def _write_half_time(fixture: ObservedFixture, score: tuple[int, int], now: datetime) -> Notice:
    covered = f"Half-time: {_match(fixture)}"
    return _notice(HALF_TIME, fixture, f"Half-time: {_scored(fixture, *score)}", now, covered=covered)


def _write_full_time(fixture: ObservedFixture, now: datetime) -> Notice:
    result = _scored(fixture, fixture.home_goals or 0, fixture.away_goals or 0)
    if fixture.penalties is not None:
        result = f"{result} ({fixture.penalties[0]}–{fixture.penalties[1]})"
    covered = f"Full-time: {_match(fixture)}"
    return _notice(FULL_TIME, fixture, f"Full-time: {result}", now, covered=covered)


def _write_card(fixture: ObservedFixture, card: Dismissal, now: datetime) -> Notice:
    minute = f"{card.elapsed}+{card.extra}" if card.extra else str(card.elapsed)
    title = f"Red card for {card.player_name} of {card.team_name}, {minute}′"
    notice = _notice(RED_CARD, fixture, title, now)
    # Nobody is sent off twice in a match; a correction of the minute changes this line.
    return replace(notice, key=f"{notice.key}.{card.team_id}.{card.player_name.casefold()}")


def _write_line_ups(fixture: ObservedFixture, now: datetime) -> Notice:
    detail = ". ".join(_name_players(line_up) for line_up in fixture.lineups)
    return _notice(LINE_UPS, fixture, f"Line-ups: {_match(fixture)}", now, detail=f"{detail}.")


def _name_players(line_up: LineUp) -> str:
    formation = f" ({line_up.formation})" if line_up.formation else ""
    return f"{line_up.team_name}{formation}: {', '.join(line_up.players)}"


def _notice(
    kind: str, fixture: ObservedFixture, title: str, now: datetime, *, detail: str = "", covered: str = ""
) -> Notice:
    return Notice(
        key=_key(kind, fixture),
        application="footy",
        kind=kind,
        subject=_subject(fixture),
        heading=_match(fixture),
        followed=(
            f"{TEAM_SUBJECT}{fixture.home.id}",
            f"{TEAM_SUBJECT}{fixture.away.id}",
            _subject(fixture),
            f"{LEAGUE_SUBJECT}{fixture.league.id}",
        ),
        title=title,
        detail=detail,
        path=match_path(fixture.fixture_id),
        occurred_at=now,
        spoiler=bool(covered),
        covered_title=covered,
        optional=kind in _OPTIONAL,
    )


def _key(kind: str, fixture: ObservedFixture) -> str:
    return f"footy.{kind}.{fixture.fixture_id}"


def _subject(fixture: ObservedFixture) -> str:
    return f"{FIXTURE_SUBJECT}{fixture.fixture_id}"


def _match(fixture: ObservedFixture) -> str:
    return f"{fixture.home.name} – {fixture.away.name}"


def _scored(fixture: ObservedFixture, home: int, away: int) -> str:
    return f"{fixture.home.name} {home}–{away} {fixture.away.name}"
