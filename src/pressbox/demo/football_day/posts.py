"""Plans which clips people post of the goals of a scripted day, when, and what must happen to each. Pure."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from pressbox.demo.clips.spec import ClipSpec, Disguise, Scene
from pressbox.demo.match_day.days import ScriptedDay
from pressbox.demo.match_day.matches import ScriptedGoal, ScriptedMatch

# Long enough for the clock to be read and the scene to be recognised, small enough for two cores.
CLIP = ClipSpec(seed=0, duration=4.0, width=640, height=360, rate=15)
WRONG_MINUTES = 20
COPIES = (Disguise.LETTERBOX, Disguise.BRIGHTER, Disguise.LOGO, Disguise.GREY, Disguise.HIGH_QUALITY)
# The beginning of a video file and nothing after it.
BROKEN = b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + b"\x00\x00\x40\x00mdat" + bytes(range(256)) * 40
ON_REDDIT, ELSEWHERE = "soccer", "elsewhere"


class Fate(StrEnum):
    """What must happen to a post."""

    SCENE = "scene"  # a copy of a scene that is shown
    WRONG_MINUTE = "wrong minute"
    NOT_FOOTBALL = "not football"
    NOT_A_VIDEO = "not a video"


@dataclass(frozen=True)
class GoalKey:
    """What identifies a goal of the script in the end."""

    fixture_id: int
    elapsed: int
    extra: int | None
    team_id: int


@dataclass(frozen=True)
class PlannedPost:
    """`scene` names what is shown: posts of one goal with the same scene are copies of each other."""

    id: str
    goal: GoalKey
    fate: Fate
    scene: str
    text: str
    posted_at: datetime
    clip: ClipSpec | None
    disguise: Disguise | None = None
    body: bytes = b""
    subreddit: str = ELSEWHERE


def plan_posts(day: ScriptedDay, *, plain: bool = False) -> list[PlannedPost]:
    """Plan the posts in the order in which they appear. A disallowed goal has one clip, which is removed with it."""
    planned = [post for match in day.matches for post in _plan_match(day, match, plain)]
    return sorted(planned, key=lambda post: post.posted_at)


def _plan_match(day: ScriptedDay, match: ScriptedMatch, plain: bool) -> Iterator[PlannedPost]:
    broadcast = match.fixture_id % 1000
    for number, goal in enumerate(match.goals):
        player = goal.final
        if player is None:
            continue
        home, away = (side.name for side in match.record.sides)
        team = match.record.sides[goal.side].name
        writer = _Writer(
            day=day,
            match=match,
            key=GoalKey(match.fixture_id, goal.elapsed, goal.extra, match.record.sides[goal.side].id),
            # Searches use the name that the API gives, so nothing is found before the right one is known.
            begins=goal.reports[-1].wall,
            text=f"{player.name.split()[-1]} scores for {team}! {home} – {away}",
            number=number,
        )
        yield from _plan_goal(writer, goal, broadcast, number, plain)


@dataclass(frozen=True)
class _Writer:
    day: ScriptedDay
    match: ScriptedMatch
    key: GoalKey
    begins: float
    text: str
    number: int

    def post(self, after: float, fate: Fate, scene: str, clip: ClipSpec | None, **more: object) -> PlannedPost:
        at = self.match.kickoff + timedelta(minutes=self.begins + after) / self.day.speed
        written = f"{self.match.fixture_id}-{self.number}-{scene}-{after}"
        # Digits only, as the ids of X, and the same for the same script.
        identity = str(int(hashlib.sha256(written.encode()).hexdigest()[:13], 16)).zfill(16)
        post = PlannedPost(identity, self.key, fate, scene, self.text, at, clip)
        return replace(post, **more)  # type: ignore[arg-type]

    def score(self, goal: ScriptedGoal) -> str:
        """The score after this goal, as the scoreboard shows it."""
        sides = [
            one.side for one in self.match.goals if one.reports[0].wall <= goal.reports[0].wall and not one.disallowed
        ]
        return f"{sides.count(0)}-{sides.count(1)}"


def _plan_goal(writer: _Writer, goal: ScriptedGoal, broadcast: int, number: int, plain: bool) -> Iterator[PlannedPost]:
    seed = writer.match.fixture_id * 100 + number * 10
    clock = (goal.elapsed + (goal.extra or 0) - 1) * 60.0 + 8.0
    home, away = (side.name[:3].upper() for side in writer.match.record.sides)
    shown = replace(CLIP, broadcast=broadcast, home=home, away=away, score=writer.score(goal))
    live = replace(shown, seed=seed, clock_start=clock)
    yield writer.post(1.0, Fate.SCENE, "live", live, disguise=Disguise.SMALLER)
    if goal.disallowed is not None:
        return
    again = replace(shown, seed=seed + 1, clock_start=clock)
    crowd = replace(shown, seed=seed + 2, scoreboard=False)
    # The clock of another goal: earlier where there is room, so that it never fits by chance.
    earlier = -WRONG_MINUTES if clock > (WRONG_MINUTES + 5) * 60 else WRONG_MINUTES
    other = replace(shown, seed=seed + 3, clock_start=clock + earlier * 60)
    yield writer.post(3.0, Fate.SCENE, "live", live, subreddit=ON_REDDIT)
    if plain:
        return
    yield writer.post(2.0, Fate.WRONG_MINUTE, "another goal", other)
    yield writer.post(4.0, Fate.SCENE, "replay", again)
    yield writer.post(5.0, Fate.SCENE, "live", live, disguise=COPIES[seed // 10 % len(COPIES)])
    if number == 0:
        yield writer.post(5.5, Fate.SCENE, "from the stands", crowd)
        yield writer.post(2.5, Fate.NOT_FOOTBALL, "black", replace(CLIP, seed=seed + 4, scene=Scene.BLACK))
        yield writer.post(6.0, Fate.NOT_A_VIDEO, "broken", None, body=BROKEN)
