"""Watches a day through the API of the instance and compares it with the script."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

from pressbox.core.logs import get_logger
from pressbox.demo.football_day.posts import Fate, GoalKey, PlannedPost
from pressbox.demo.match_day.days import FIRST_FIXTURE_ID, ExpectedGoal, ExpectedOutcome, ScriptedDay
from pressbox.demo.match_day.matches import LEAGUE_ID
from pressbox.demo.stage import Finding
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.goals import event_id

log = get_logger(__name__)

_POST_ID = re.compile(r"\d{12,}")
REATTRIBUTED = "reattributed"
FIXTURES_PER_DAY = 100
MOST_GOALS_OF_ONE = 5
# A killed worker loses at most two of the answers it was given.
SURELY_KEPT = 3
# What becomes of these candidates is not decided yet.
AT_WORK = frozenset({CandidateOutcome.CHOSEN, CandidateOutcome.READY})
REFUSED = {
    Fate.WRONG_MINUTE: "wrong minute",
    Fate.NOT_FOOTBALL: "not football",
    Fate.NOT_A_VIDEO: "not a video",
}

Json = dict[str, Any]


@dataclass(frozen=True)
class ShownDay:
    """What the instance shows at one time. `audits` are by event id, and only loaded by `look_closely`.

    `told` has when the simulated API answered for each fixture: what it never said cannot be known.
    """

    fixtures: Sequence[Json]
    gone: Sequence[str] = ()
    told: Mapping[int, Sequence[datetime]] = field(default_factory=dict)
    audits: Mapping[str, Json] = field(default_factory=dict)

    @property
    def goals(self) -> list[Json]:
        return [goal for fixture in self.fixtures for goal in fixture["goals"]]


class Watcher:
    """`seen` remembers every goal that was ever shown, because a removed one is no longer shown."""

    def __init__(self, web_url: str, day: ScriptedDay, told: Mapping[int, Sequence[datetime]]) -> None:
        self._told = told
        self._client = httpx.AsyncClient(base_url=f"{web_url}/api/footy", trust_env=False, timeout=30.0)
        self._day = day
        self.seen: set[str] = set()

    async def follow_competition(self) -> None:
        """Let whoever looks at the demo follow it: the goals come to their inbox, and one match is their event."""
        team = self._day.matches[0].record.sides[0]
        for followed in (f"league/{LEAGUE_ID}", f"team/{team.id}"):
            (await self._client.put(f"/follow/own/{followed}")).raise_for_status()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def look(self) -> ShownDay:
        fixtures = []
        for match in self._day.matches:
            answer = await self._client.get(f"/fixtures/{match.fixture_id}")
            if answer.status_code != httpx.codes.NOT_FOUND:
                fixtures.append(answer.raise_for_status().json())
        shown = ShownDay(fixtures)
        self.seen |= {goal["event_id"] for goal in shown.goals}
        return shown

    async def look_closely(self) -> ShownDay:
        shown = await self.look()
        listed = {goal["event_id"] for goal in shown.goals}
        gone = [event for event in sorted(self._list_possible() - listed) if await self._is_gone(event)]
        self.seen |= set(gone)
        audits = {event: await self._audit(event) for event in sorted(self.seen)}
        return ShownDay(shown.fixtures, gone, self._told, audits)

    def _list_possible(self) -> set[str]:
        """Goals that were shown, and those that were disallowed while nobody polled: these were never shown."""
        return self.seen | {
            event_id(goal.fixture_id, goal.team_id, goal.player_id, number)
            for goal in self._day.expected().disallowed
            for number in range(1, MOST_GOALS_OF_ONE + 1)
        }

    async def _is_gone(self, event_id: str) -> bool:
        return (await self._client.get(f"/goals/{event_id}")).status_code == httpx.codes.GONE

    async def _audit(self, event_id: str) -> Json:
        audit: Json = (await self._client.get(f"/goals/{event_id}/audit?limit=200")).raise_for_status().json()
        return audit


async def find_unused_fixtures(web_url: str) -> int:
    """The first fixture id of a day that this home has not played yet."""
    first = FIRST_FIXTURE_ID
    async with httpx.AsyncClient(base_url=f"{web_url}/api/footy", trust_env=False, timeout=30.0) as client:
        while (await client.get(f"/fixtures/{first}")).status_code != httpx.codes.NOT_FOUND:
            first += FIXTURES_PER_DAY
    return first


def is_over(shown: ShownDay, expected: ExpectedOutcome) -> bool:
    """Whether every match is archived and every goal complete."""
    archived = {fixture["fixture_id"] for fixture in shown.fixtures if fixture["stage"] == "completed"}
    return set(expected.played) <= archived and all(goal["state"] == "complete" for goal in shown.goals)


def is_settled(shown: ShownDay) -> bool:
    """Whether nothing is on its way any more: a goal whose time is up is complete, and its last clip comes later."""
    return not any(each["outcome"] in AT_WORK for each in _list_candidates(shown))


def list_scenes(shown: ShownDay, posts: Iterable[PlannedPost]) -> dict[GoalKey, dict[str, str]]:
    """By goal and scene, the post whose file is shown. A clip that is no post of the goal counts as a stray."""
    by_id = {post.id: post for post in posts}
    found: dict[GoalKey, dict[str, str]] = {}
    for goal in shown.goals:
        scenes = found.setdefault(_goal_key(goal), {})
        for clip in goal["clips"]:
            post = by_id.get(post_id(clip["source_url"]))
            own = post is not None and post.goal == _goal_key(goal) and post.fate is Fate.SCENE
            scenes[post.scene if own and post else f"stray {clip['source_url']}"] = post_id(clip["source_url"])
    return found


def choose_best_copies(
    expected: ExpectedOutcome, posts: Iterable[PlannedPost], sizes: Mapping[str, int]
) -> dict[GoalKey, Any]:
    """What must be shown: the largest file of each scene, since all copies have the same length."""
    standing = {_expected_key(goal) for goal in expected.goals}
    best: dict[GoalKey, dict[str, str]] = {key: {} for key in standing}
    for post in posts:
        if post.fate is Fate.SCENE and post.goal in standing:
            known = best[post.goal].get(post.scene)
            if known is None or sizes[post.id] > sizes[known]:
                best[post.goal][post.scene] = post.id
    return best


def compare_day(
    shown: ShownDay, day: ScriptedDay, posts: Sequence[PlannedPost], sizes: Mapping[str, int]
) -> tuple[Finding, ...]:
    expected = day.expected()
    truth, found = choose_best_copies(expected, posts, sizes), list_scenes(shown, posts)
    standing = [post for post in posts if post.goal in truth]
    stages = [fixture["stage"] for fixture in shown.fixtures]
    confirmed = {_goal_key(goal) for goal in shown.goals if goal["confirmed_at"]}
    names = {(_goal_key(goal), goal["player_name"]) for goal in shown.goals}
    scenes, scenes_found = _flatten(truth), _flatten(found)
    copies = [post for post in standing if post.fate is Fate.SCENE]
    if scenes != scenes_found:
        log.warning(
            "scenes_differ",
            msg="Other clips are shown than the script says",
            missing=[_describe(each, sizes) for each in scenes - scenes_found],
            instead=[_describe(each, sizes) for each in scenes_found - scenes],
        )
    return (
        Finding(name="footy fixtures", expected=len(day.matches), found=len(shown.fixtures)),
        Finding(name="footy goals confirmed", expected=len(truth), found=len(confirmed & truth.keys())),
        Finding(
            name="footy goals too many", expected=0, found=len({_goal_key(goal) for goal in shown.goals} - truth.keys())
        ),
        Finding(
            name="footy scorers right",
            expected=len(expected.goals),
            found=sum((_expected_key(goal), goal.player_name or "") in names for goal in expected.goals),
        ),
        Finding(name="footy goals removed", expected=len(expected.disallowed), found=len(shown.gone)),
        _count_reattributed(shown, day),
        Finding(name="footy matches archived", expected=len(expected.played), found=stages.count("completed")),
        Finding(name="footy matches postponed", expected=len(expected.postponed), found=stages.count("staging")),
        Finding(name="footy clips stored", expected=len(scenes), found=len(scenes_found)),
        Finding(name="footy best copies shown", expected=len(scenes), found=len(scenes & scenes_found)),
        Finding(
            name="footy duplicates merged",
            expected=len(copies) - len(scenes),
            found=_count_merged(shown, copies, scenes_found),
        ),
        *(
            Finding(
                name=f"footy clips refused, {words}",
                expected=sum(post.fate is fate for post in standing),
                found=_count_refused(shown, [post for post in standing if post.fate is fate], words),
            )
            for fate, words in REFUSED.items()
        ),
    )


def _count_reattributed(shown: ShownDay, day: ScriptedDay) -> Finding:
    """Expect only what the API told: a name that was wrong while no worker ran is not in any later answer."""
    found = sum(any(note["what"] == REATTRIBUTED for note in audit["notes"]) for audit in shown.audits.values())
    answers = day.count_wrong_names(shown.told)
    certain, possible = sum(count >= SURELY_KEPT for count in answers), sum(count > 0 for count in answers)
    return Finding(name="footy goals re-attributed", expected=min(max(found, certain), possible), found=found)


def _count_merged(shown: ShownDay, copies: Sequence[PlannedPost], best: set[tuple[GoalKey, str, str]]) -> int:
    """Count copies that were found and merged into another clip."""
    ids = {post.id for post in copies} - {chosen for _, _, chosen in best}
    return len({post_id(each["video_page_url"]) for each in _list_candidates(shown) if each["share_id"]} & ids)


def _count_refused(shown: ShownDay, posts: Sequence[PlannedPost], outcome: str) -> int:
    ids = {post.id for post in posts}
    refused = {post_id(each["video_page_url"]) for each in _list_candidates(shown) if each["outcome"] == outcome}
    return len(refused & ids)


def _list_candidates(shown: ShownDay) -> Iterable[Json]:
    return (each for audit in shown.audits.values() for each in audit["candidates"]["items"])


def _flatten(scenes: Mapping[GoalKey, Mapping[str, str]]) -> set[tuple[GoalKey, str, str]]:
    return {(goal, scene, post) for goal, each in scenes.items() for scene, post in each.items()}


def _describe(shown: tuple[GoalKey, str, str], sizes: Mapping[str, int]) -> str:
    goal, scene, post = shown
    return f"{goal.fixture_id} {goal.elapsed}' {scene}: {post}, {sizes.get(post)} bytes"


def _goal_key(goal: Json) -> GoalKey:
    return GoalKey(goal["fixture_id"], goal["elapsed"], goal["extra"], goal["team_id"])


def _expected_key(goal: ExpectedGoal) -> GoalKey:
    return GoalKey(goal.fixture_id, goal.elapsed, goal.extra, goal.team_id)


def post_id(url: str) -> str:
    numbers = _POST_ID.findall(url)
    return numbers[-1] if numbers else ""
