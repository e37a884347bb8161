"""One goal on its way to people: told, replaced by its clip, taken back by the video referee.

Each step begins when everybody has the one before it, so a busy machine, or one whose parts are killed, only delays it.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pressbox.demo.football_day.clip_files import make_clip_files, publish
from pressbox.demo.football_day.followers import LOOK_SECONDS, PEOPLE, Followers, list_findings
from pressbox.demo.football_day.posts import plan_posts
from pressbox.demo.football_day.told import Arrived, Way
from pressbox.demo.football_day.watcher import Watcher, find_unused_fixtures
from pressbox.demo.match_day.days import ScriptedDay, build_day
from pressbox.demo.match_day.matches import ScorerReport, ScriptedGoal
from pressbox.demo.match_day.records import DETAILS
from pressbox.demo.stage import Finding, Stage
from pressbox.demo.standstill import report_standstill
from pressbox.demo.world import MATCH_SPEED
from pressbox.footy.ids import INGEST_SCHEDULE, UPKEEP_SCHEDULE

LEAD = timedelta(seconds=3)
# Also when parts are killed on a busy machine: what a dead worker did is noticed after half a minute, and done again.
SETTLE = timedelta(seconds=300)
# Slower than polls and searches are, so that the match is not over before its goal is taken back.
SLOWER = 4.0
# In the second minute of the match.
ELAPSED, WALL = 2, 1.0


async def play_goal(stage: Stage) -> tuple[Finding, ...]:
    """Three people follow a team: its goal reaches each of them by mail, in a chat and on the phone, once."""
    first = await find_unused_fixtures(stage.web_url)
    files = await make_clip_files(plan_posts(script_goal(stage, first), plain=True)[:1])
    day = script_goal(stage, first)
    match = day.matches[0]
    side = match.record.sides[match.goals[0].side]
    shown_at = match.kickoff + timedelta(minutes=WALL) / day.speed
    publish(
        stage.world.social,
        [replace(post, posted_at=shown_at) for post in plan_posts(day, plain=True)[:1]],
        files,
    )
    stage.world.fixtures.day = day
    async with aclosing(Watcher(stage.web_url, day, stage.world.fixtures.told)) as watcher:
        await watcher.follow_competition()
        followers = await Followers.move_in(stage, f"team/{side.id}")
        for schedule in (INGEST_SCHEDULE, UPKEEP_SCHEDULE):
            await stage.resources.temporal.get_schedule_handle(schedule).trigger()
        waiting = Waiting(stage, followers, watcher)
        await waiting.until(lambda arrived: all(arrived.messages.values()), "the goal")
        await waiting.until(has_clip, "its clip")
        minute = day.minute(match, datetime.now(UTC))
        disallowed = replace(match, goals=(replace(match.goals[0], disallowed=minute),))
        stage.world.fixtures.day = replace(day, matches=(disallowed,))
        await waiting.until(is_taken_back, "the decision of the video referee")
    counted = await followers.count(SETTLE)
    return (
        Finding(name="phones that got the clip", expected=PEOPLE, found=counted.with_clip),
        # The goal and the decision; of a clip nobody is written to.
        Finding(name="mails and chats written", expected=4 * PEOPLE, found=counted.written),
        *list_findings(counted, goals=0, people=PEOPLE, taken_back=1),
    )


def script_goal(stage: Stage, first_fixture: int) -> ScriptedDay:
    """A match with one goal, which is listed in its second minute."""
    start = datetime.now(UTC).replace(microsecond=0) + LEAD
    speed = MATCH_SPEED * stage.speed / SLOWER
    seed = stage.round + 3
    day = build_day(start, speed=speed, matches=1, seed=seed, first_fixture_id=first_fixture, postponed=0)
    match = day.matches[0]
    scored = next(goal for goal in match.goals if goal.final and goal.detail == DETAILS[""])
    goal = ScriptedGoal(ELAPSED, None, scored.side, scored.detail, (ScorerReport(WALL, scored.final),))
    return replace(day, matches=(replace(match, goals=(goal,), missed_penalty=None, silent=None),))


def has_clip(arrived: Arrived) -> bool:
    return any(message.has_clip for message in arrived.messages[Way.PUSH])


def is_taken_back(arrived: Arrived) -> bool:
    return all(any(message.taken_back for message in messages) for messages in arrived.messages.values())


@dataclass(frozen=True)
class Waiting:
    """Waits until everybody has something, and says at length why if it does not come."""

    stage: Stage
    followers: Followers
    watcher: Watcher

    async def until(self, holds: Callable[[Arrived], bool], what: str) -> None:
        """Only looks at what arrived outside: the instance may be without its database meanwhile."""
        deadline = datetime.now(UTC) + SETTLE
        while datetime.now(UTC) < deadline:
            if all(holds(self.followers.arrived(person)) for person in self.followers.people):
                return
            await asyncio.sleep(LOOK_SECONDS / 2)
        trail = json.dumps((await self.watcher.look_closely()).audits, indent=1)
        what = f"One goal stands still: {what} does not reach everybody. Its trail:\n{trail}"
        raise await report_standstill(self.stage.resources.temporal, what)
