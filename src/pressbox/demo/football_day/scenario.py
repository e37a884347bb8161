"""The match day of the demo: several matches at once, by script, with the clips that people post of their goals."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

from pressbox.core.errors import TransientError
from pressbox.demo.football_day.clip_files import make_clip_files, publish
from pressbox.demo.football_day.posts import plan_posts
from pressbox.demo.football_day.watcher import ShownDay, Watcher, compare_day, find_unused_fixtures, is_over
from pressbox.demo.match_day.days import ScriptedDay, build_day
from pressbox.demo.stage import Finding, Stage
from pressbox.demo.world import MATCH_SPEED
from pressbox.footy.ids import INGEST_SCHEDULE, UPKEEP_SCHEDULE

# Until the first kick-off: the fixtures must be known by then.
LEAD = timedelta(seconds=8)
# After the final whistle: searches go on for a quarter of an hour of the match, and a busy machine takes its time.
SETTLE = timedelta(seconds=240)
LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Size:
    """`plain` days have two copies of one scene per goal, and nothing that must be refused."""

    matches: int = 3
    goals: int = 6
    seed: int = 4
    plain: bool = False
    settle: timedelta = SETTLE


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
    for schedule in (INGEST_SCHEDULE, UPKEEP_SCHEDULE):
        await stage.resources.temporal.get_schedule_handle(schedule).trigger()
    watcher = Watcher(stage.web_url, day)
    try:
        shown = await watch(watcher, day, size.settle)
    finally:
        await watcher.close()
    return compare_day(shown, day, posts, {post: len(file) for post, file in files.items()})


def script(stage: Stage, size: Size, first_fixture: int) -> ScriptedDay:
    return build_day(
        datetime.now(UTC).replace(microsecond=0) + LEAD,
        speed=MATCH_SPEED * stage.speed,
        matches=size.matches,
        goals=size.goals,
        seed=size.seed,
        first_fixture_id=first_fixture,
    )


async def watch(watcher: Watcher, day: ScriptedDay, settle: timedelta) -> ShownDay:
    expected, deadline = day.expected(), day.ends_at + settle
    while datetime.now(UTC) < deadline:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            if is_over(await watcher.look(), expected):
                return await watcher.look_closely()
        except httpx.HTTPError:
            # The web application or its database may be restarting: some scenarios do that on purpose.
            continue
    raise TransientError("The match day stands still: what it waits for does not come.")
