"""The match day of the demo: several matches at once, by script, with the clips that people post of their goals."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from temporalio.client import Client

from pressbox.demo.football_day.clip_files import make_clip_files, publish
from pressbox.demo.football_day.followers import PEOPLE, Followers, list_findings
from pressbox.demo.football_day.posts import plan_posts
from pressbox.demo.football_day.watcher import ShownDay, Watcher, compare_day, find_unused_fixtures, is_over, is_settled
from pressbox.demo.match_day.days import ScriptedDay, build_day
from pressbox.demo.match_day.matches import LEAGUE_ID
from pressbox.demo.stage import Finding, Stage
from pressbox.demo.standstill import report_standstill
from pressbox.demo.world import MATCH_SPEED
from pressbox.footy.ids import INGEST_SCHEDULE, UPKEEP_SCHEDULE

# Until the first kick-off: the fixtures must be known by then.
LEAD = timedelta(seconds=8)
# After the final whistle: searches go on for a quarter of an hour of the match, and a busy machine takes its time.
SETTLE = timedelta(seconds=240)
LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Size:
    """`plain` days have two copies of one scene per goal, and nothing that must be refused.

    `followers` are people who hear of every goal by mail, in a chat and on the phone.
    """

    matches: int = 3
    goals: int = 6
    seed: int = 4
    plain: bool = False
    settle: timedelta = SETTLE
    followers: int = PEOPLE


async def play_footy(stage: Stage) -> tuple[Finding, ...]:
    """Fixtures go live; goals are scored, confirmed, corrected and disallowed; clips arrive; then all is archived."""
    return await play_day(stage, Size(seed=stage.round + 3))


async def play_day(stage: Stage, size: Size) -> tuple[Finding, ...]:
    """Make the clips first, so that a busy machine only delays the day."""
    first_fixture = await find_unused_fixtures(stage.web_url)
    files = await make_clip_files(plan_posts(script(stage, size, first_fixture), plain=size.plain))
    day = script(stage, size, first_fixture)
    posts = plan_posts(day, plain=size.plain)
    publish(stage.world.social, posts, files)
    stage.world.fixtures.day = day
    watcher = Watcher(stage.web_url, day, stage.world.fixtures.told)
    followers = await Followers.move_in(stage, f"league/{LEAGUE_ID}", size.followers)
    try:
        await watcher.follow_competition()
        for schedule in (INGEST_SCHEDULE, UPKEEP_SCHEDULE):
            await stage.resources.temporal.get_schedule_handle(schedule).trigger()
        shown = await watch(stage.resources.temporal, watcher, day, size.settle)
    finally:
        await watcher.aclose()
    counted = await followers.count(size.settle)
    return (
        *compare_day(shown, day, posts, {post: len(file) for post, file in files.items()}),
        *list_findings(counted, goals=len(day.expected().goals), people=size.followers),
    )


def script(stage: Stage, size: Size, first_fixture: int) -> ScriptedDay:
    return build_day(
        datetime.now(UTC).replace(microsecond=0) + LEAD,
        speed=MATCH_SPEED * stage.speed,
        matches=size.matches,
        goals=size.goals,
        seed=size.seed,
        first_fixture_id=first_fixture,
    )


async def watch(temporal: Client, watcher: Watcher, day: ScriptedDay, settle: timedelta) -> ShownDay:
    expected, deadline = day.expected(), day.ends_at + settle
    while datetime.now(UTC) < deadline:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            if is_over(await watcher.look(), expected):
                shown = await watcher.look_closely()
                if is_settled(shown):
                    return shown
        except httpx.HTTPError:
            # The web application or its database may be restarting: some scenarios do that on purpose.
            continue
    raise await report_standstill(temporal, "The match day stands still: what it waits for does not come.")
