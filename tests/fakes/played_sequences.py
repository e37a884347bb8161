"""Short matches as they were played, and what each poll of a faulty API shows of them. Pure.

A scene is what happens on the pitch; a fault changes what some polls show of it, never what happened. Faults are
applied one after the other, so two of them can meet in either order. Every listed row carries the number of the goal
that it is about, which the product does not read.
"""

import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Raw = dict[str, Any]
Row = dict[str, Any]

HOME, AWAY = 40, 42
KICKOFF = "2026-10-03T14:00:00+00:00"
POLLS = 30
# The first poll after the end.
WHISTLE = POLLS - 4
# The number of a row that is about no goal at all.
NO_GOAL = -1

SALAH, NUNEZ, GAKPO = (306, "Mohamed Salah"), (51617, "Darwin Núñez"), (247, "Cody Gakpo")
SAKA = (1460, "Bukayo Saka")
ANTONIO, BRUNO = (None, "A. Silva"), (None, "B. Silva")
Player = tuple[int | None, str]


@dataclass(frozen=True)
class PlayedGoal:
    """A goal that was scored right before poll `begins`, and was taken away right before poll `ends`."""

    side: int
    player: Player
    elapsed: int
    begins: int
    extra: int | None = None
    ends: int | None = None
    detail: str = "Normal Goal"

    def stands(self, poll: int) -> bool:
        return self.begins <= poll and (self.ends is None or poll < self.ends)


@dataclass(frozen=True)
class Scene:
    """`kicks` are scored in a shoot-out from poll `shoot_out` on. Nobody polls in `unseen`."""

    name: str
    goals: tuple[PlayedGoal, ...]
    minute: int = 20
    stoppage: bool = False
    unseen: range = range(0)
    decided: bool = False
    shoot_out: int | None = None

    def standing(self, poll: int) -> list[int]:
        return [number for number, goal in enumerate(self.goals) if goal.stands(poll)]


@dataclass
class View:
    """What one poll shows."""

    poll: int
    rows: list[Row]
    score: dict[int, int]
    status: str
    elapsed: int
    extra: int | None
    penalties: dict[int, int] | None = None

    def of(self, number: int) -> list[Row]:
        return [row for row in self.rows if row["truth"] == number]


@dataclass(frozen=True)
class Fault:
    """Changes the polls from `first` to before `last`, counted from the goal that it is about."""

    name: str
    first: int
    last: int
    change: Callable[[View, Scene, int], None]


@dataclass(frozen=True)
class Played:
    """A scene with faults, each about a goal by its number and delayed by some polls."""

    scene: Scene
    faults: tuple[tuple[Fault, int, int], ...] = field(default=())

    @property
    def name(self) -> str:
        about = " + ".join(f"{fault.name} (goal {goal}, +{delay})" for fault, goal, delay in self.faults)
        return f"{self.scene.name}: {about or 'no fault'}"

    def polls(self) -> Iterator[int]:
        return (poll for poll in range(POLLS) if poll not in self.scene.unseen)

    def answer(self, poll: int, fixture_id: int = 1) -> Raw:
        view = show(self.scene, poll)
        for fault, number, delay in self.faults:
            since = poll - self.scene.goals[number].begins - delay
            if fault.first <= since < fault.last:
                fault.change(view, self.scene, number)
        return as_answer(view, fixture_id)


def show(scene: Scene, poll: int) -> View:
    """What an API without a fault shows."""
    minute = scene.minute + poll // 2
    shoot_out = scene.shoot_out is not None and poll >= scene.shoot_out
    stopped = scene.stoppage and minute > scene.goals[0].elapsed
    elapsed, extra = (scene.goals[0].elapsed, minute - scene.goals[0].elapsed) if stopped else (minute, None)
    goals = [(number, goal) for number, goal in enumerate(scene.goals) if goal.stands(poll)]
    rows = [row_of(goal, number) for number, goal in goals]
    if scene.decided:
        rows += [
            {**row_of(goal, NO_GOAL), "type": "Var", "detail": "Goal Disallowed - offside"}
            for goal in scene.goals
            if goal.ends is not None and poll >= goal.ends
        ]
    score = {side: sum(goal.side == side for _, goal in goals) for side in (HOME, AWAY)}
    view = View(poll, rows, score, "2H" if minute > 45 else "1H", elapsed, extra)
    if scene.shoot_out is not None:
        view.status, view.elapsed, view.extra = ("P", 120, None) if shoot_out else ("ET", min(elapsed, 120), None)
    if scene.shoot_out is not None and shoot_out:
        view.penalties = {HOME: (poll - scene.shoot_out + 1) // 2, AWAY: (poll - scene.shoot_out) // 2}
        if poll >= scene.shoot_out + 12:
            view.status, view.penalties = "PEN", {HOME: 6, AWAY: 5}
        view.rows += [kick(side, number) for side, count in view.penalties.items() for number in range(count)]
    elif poll >= WHISTLE:
        view.status, view.elapsed, view.extra = "FT", 90, None
    return view


def row_of(goal: PlayedGoal, number: int) -> Row:
    return {
        "truth": number,
        "time": {"elapsed": goal.elapsed, "extra": goal.extra},
        "team": {"id": goal.side, "name": f"Team {goal.side}"},
        "player": {"id": goal.player[0], "name": goal.player[1]},
        "assist": {"id": None, "name": None},
        "type": "Goal",
        "detail": goal.detail,
        "comments": None,
    }


def kick(side: int, number: int) -> Row:
    goal = PlayedGoal(
        side, (9_000 + side * 20 + number, f"K. Icker{side}{number}"), 120, 0, number + 1, None, "Penalty"
    )
    return {**row_of(goal, NO_GOAL), "comments": "Penalty Shootout"}


def as_answer(view: View, fixture_id: int) -> Raw:
    penalties: dict[int, int | None] = {HOME: None, AWAY: None, **(view.penalties or {})}
    return {
        "fixture": {
            "id": fixture_id,
            "date": KICKOFF,
            "status": {"short": view.status, "elapsed": view.elapsed, "extra": view.extra},
            "venue": {},
        },
        "league": {"id": 39, "name": "League", "country": "England", "round": "7"},
        "teams": {"home": {"id": HOME, "name": "Home", "winner": None}, "away": {"id": AWAY, "name": "Away"}},
        "goals": {"home": view.score.get(HOME), "away": view.score.get(AWAY)},
        "score": {"penalty": {"home": penalties[HOME], "away": penalties[AWAY]}},
        "events": view.rows,
    }


# ---- What happens on the pitch

SCENES = (
    Scene("a goal", (PlayedGoal(HOME, SALAH, 23, 6),)),
    Scene("two of one side", (PlayedGoal(HOME, SALAH, 23, 6), PlayedGoal(HOME, NUNEZ, 26, 12))),
    Scene("one of each side", (PlayedGoal(AWAY, SAKA, 21, 2), PlayedGoal(HOME, SALAH, 23, 6))),
    Scene("two by one player", (PlayedGoal(HOME, SALAH, 23, 6), PlayedGoal(HOME, SALAH, 28, 16))),
    Scene("one player twice in a minute", (PlayedGoal(HOME, SALAH, 23, 6), PlayedGoal(HOME, SALAH, 23, 7))),
    Scene("namesakes in a minute", (PlayedGoal(HOME, ANTONIO, 23, 6), PlayedGoal(HOME, BRUNO, 23, 7))),
    Scene(
        "stoppage time",
        (PlayedGoal(HOME, SALAH, 90, 4, 2), PlayedGoal(AWAY, SAKA, 90, 10, 5)),
        minute=90,
        stoppage=True,
    ),
    Scene(
        "first half's stoppage time",
        (PlayedGoal(HOME, SALAH, 45, 4, 2), PlayedGoal(HOME, NUNEZ, 45, 8, 4)),
        minute=45,
        stoppage=True,
    ),
    Scene(
        "one taken away, the next before a poll",
        (PlayedGoal(HOME, SALAH, 90, 4, 2, ends=9), PlayedGoal(HOME, NUNEZ, 90, 10, 5)),
        minute=90,
        stoppage=True,
        unseen=range(9, 11),
    ),
    Scene(
        "one taken away, then another",
        (PlayedGoal(HOME, SALAH, 23, 6, ends=11), PlayedGoal(HOME, NUNEZ, 26, 13)),
        decided=True,
    ),
    Scene(
        "a shoot-out",
        (
            PlayedGoal(HOME, SALAH, 113, 2),
            PlayedGoal(AWAY, SAKA, 116, 8, detail="Penalty"),
        ),
        minute=112,
        shoot_out=16,
    ),
)


# ---- The faults


def _hide(view: View, scene: Scene, number: int) -> None:
    view.rows = [row for row in view.rows if row["truth"] != number]


def _hide_other_side(view: View, scene: Scene, number: int) -> None:
    view.rows = [row for row in view.rows if row["team"]["id"] == scene.goals[number].side]


def _forget(view: View, scene: Scene, number: int) -> None:
    """Neither list nor score has it."""
    goal = scene.goals[number]
    if goal.stands(view.poll) and view.score:
        view.score[goal.side] = max(view.score[goal.side] - 1, 0)
    _hide(view, scene, number)


def _score_late(view: View, scene: Scene, number: int) -> None:
    goal = scene.goals[number]
    if goal.stands(view.poll) and view.score:
        view.score[goal.side] = max(view.score[goal.side] - 1, 0)


def _repeat(**changes: Any) -> Callable[[View, Scene, int], None]:
    def change(view: View, scene: Scene, number: int) -> None:
        view.rows += [{**copy.deepcopy(row), **changes} for row in view.of(number)[:1]]

    return change


def _repeat_minute(by: int) -> Callable[[View, Scene, int], None]:
    def change(view: View, scene: Scene, number: int) -> None:
        others = [copy.deepcopy(row) for row in view.of(number)[:1]]
        for row in others:
            _shift(row, by)
        view.rows += others

    return change


def _move(by: int) -> Callable[[View, Scene, int], None]:
    def change(view: View, scene: Scene, number: int) -> None:
        for row in view.of(number):
            _shift(row, by)

    return change


def _shift(row: Row, by: int) -> None:
    if row["time"]["extra"]:
        row["time"]["extra"] = max(row["time"]["extra"] + by, 1)
    else:
        row["time"]["elapsed"] += by


def _set(**changes: Any) -> Callable[[View, Scene, int], None]:
    def change(view: View, scene: Scene, number: int) -> None:
        for row in view.of(number):
            row.update(copy.deepcopy(changes))

    return change


def _without_stoppage(view: View, scene: Scene, number: int) -> None:
    for row in view.of(number):
        row["time"]["extra"] = None


def _without_id(view: View, scene: Scene, number: int) -> None:
    for row in view.of(number):
        row["player"]["id"] = None


def _empty(view: View, scene: Scene, number: int) -> None:
    view.rows = []


def _without_score(view: View, scene: Scene, number: int) -> None:
    view.score = {}


def _turn(view: View, scene: Scene, number: int) -> None:
    view.rows.reverse()


def _stale(view: View, scene: Scene, number: int) -> None:
    old = show(scene, max(scene.goals[number].begins - 1, 0))
    view.rows, view.score, view.status = old.rows, old.score, old.status
    view.elapsed, view.extra, view.penalties = old.elapsed, old.extra, old.penalties


def _over(view: View, scene: Scene, number: int) -> None:
    if view.penalties is None:
        view.status, view.elapsed, view.extra = "FT", 90, None


def _name_after_the_whistle(view: View, scene: Scene, number: int) -> None:
    if view.poll <= WHISTLE:
        _set(player={"id": None, "name": None})(view, scene, number)


def _other_side(view: View, scene: Scene, number: int) -> None:
    goal = scene.goals[number]
    other = AWAY if goal.side == HOME else HOME
    for row in view.of(number):
        row["team"] = {"id": other, "name": f"Team {other}"}


def _count_kicks(view: View, scene: Scene, number: int) -> None:
    for row in view.rows:
        row["comments"] = None
    for side, kicks in (view.penalties or {}).items() if view.score else ():
        view.score[side] += kicks


def _count_unknown_kicks(view: View, scene: Scene, number: int) -> None:
    _count_kicks(view, scene, number)
    view.penalties = None


FAULTS = (
    Fault("row late", 0, 3, _hide),
    Fault("score late", 0, 3, _score_late),
    Fault("rows of the other side missing", 0, 5, _hide_other_side),
    Fault("listed twice", 0, POLLS, _repeat()),
    Fault("listed twice, once with an assist", 1, 8, _repeat(assist={"id": 5, "name": "A. Ssist"})),
    Fault("second row in the next minute", 1, 6, _repeat_minute(1)),
    Fault("second row without a player", 0, 4, _repeat(player={"id": None, "name": None})),
    Fault("a minute later", 4, POLLS, _move(1)),
    Fault("a minute earlier", 4, POLLS, _move(-1)),
    Fault("stoppage time added later", 0, 4, _without_stoppage),
    Fault("gone from one poll", 5, 6, _forget),
    Fault("stale answers", 4, 6, _stale),
    Fault("row missing", 4, 8, _hide),
    Fault("named later", 0, 3, _set(player={"id": None, "name": None})),
    Fault("corrected scorer", 0, 5, _set(player={"id": GAKPO[0], "name": GAKPO[1]})),
    Fault("no id for a while", 4, 6, _without_id),
    Fault("an own goal at first", 0, 4, _set(detail="Own Goal")),
    Fault("empty list", 4, 8, _empty),
    Fault("no score", 3, 6, _without_score),
    Fault("turned list", 0, POLLS, _turn),
    Fault("over before extra time", 6, 10, _over),
    Fault("on the other side at first", 0, 3, _other_side),
    Fault("kicks in the score", 0, POLLS, _count_kicks),
    Fault("kicks in the score and nowhere else", 0, POLLS, _count_unknown_kicks),
    Fault("over for five minutes", 1, 12, _over),
    Fault("named after the whistle", 0, POLLS, _name_after_the_whistle),
)


BACK_A_MINUTE_EARLIER = (
    Fault("gone from one poll", 5, 6, _forget),
    Fault("a minute earlier", 5, POLLS, _move(-1)),
)
# Two goals that differ in nothing, and one that takes the place of another while nobody looks: what tells them apart is
# seen once, so one fault at a time is enough for them.
ALIKE = frozenset({"one player twice in a minute", "namesakes in a minute", "one taken away, the next before a poll"})
# What was shown cannot tell: the second goal of a minute without a score, or a goal that came while another went and
# that is first listed when it may just as well be a correction of it.
UNKNOWABLE = frozenset(
    {
        ("one player twice in a minute", "no score"),
        ("one taken away, the next before a poll", "row late"),
        ("one taken away, the next before a poll", "stoppage time added later"),
        ("one taken away, the next before a poll", "empty list"),
    }
)


def list_sequences() -> Iterator[Played]:
    """Every scene without a fault, those of goals that are alike with one fault, and every two faults in both orders.

    Pairs go round the scenes, the goals that they are about, and how long after the first the second one begins.
    """
    yield from (Played(scene) for scene in SCENES)
    for scene in SCENES:
        yield Played(scene, tuple((fault, 0, 0) for fault in BACK_A_MINUTE_EARLIER))
        for fault in FAULTS if scene.name in ALIKE else ():
            if (scene.name, fault.name) not in UNKNOWABLE:
                yield Played(scene, ((fault, len(scene.goals) - 1, 0),))
    others = [scene for scene in SCENES if scene.name not in ALIKE]
    for number, (one, other) in enumerate(itertools.permutations(FAULTS, 2)):
        scene = others[number % len(others)]
        goal, delay = ((0, 0), (0, 3), (len(scene.goals) - 1, 0))[number % 3]
        yield Played(scene, ((one, 0, 0), (other, goal, delay)))
