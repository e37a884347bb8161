"""Groups copies into scenes, and decides which copy is shown. Pure.

The result depends on the set of copies only, never on the order in which they came. A scene is everything that is
connected by matches. The copy to show is the largest file among those that are nearly as long as the longest. For two
copies that is the document's rule; for more, it cannot run in circles. Copies without sound count only where those with
sound are much shorter.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# A copy with sound that is more than this fraction of the longest shows the goal too; less may have cut it off.
_LONG_ENOUGH_TO_HEAR = 0.5


@dataclass(frozen=True)
class SceneCopy:
    """`clip_id` is the clip to which it belongs already, `usable` whether it can be shown."""

    candidate_id: int
    md5: str
    duration_seconds: float
    file_size: int
    clip_id: int | None = None
    shown: bool = False
    usable: bool = True
    silent: bool = False

    @property
    def weight(self) -> tuple[bool, int, float, str]:
        """A larger file without sound is no better copy."""
        return not self.silent, self.file_size, self.duration_seconds, self.md5


@dataclass(frozen=True)
class Scene:
    """`clip_id` is the oldest clip of its copies, None for a new scene; the clips in `merged` become part of it.

    `kept` are the copies that can still become the best one when more arrive.
    """

    copies: tuple[SceneCopy, ...]
    best: SceneCopy | None
    clip_id: int | None
    merged: tuple[int, ...]
    kept: frozenset[int]

    @property
    def changes_shown(self) -> bool:
        return self.best is not None and not (self.best.shown and self.best.clip_id == self.clip_id)


def arrange(copies: Sequence[SceneCopy], matches: Iterable[tuple[int, int]], same_duration: float) -> tuple[Scene, ...]:
    """Group copies by the pairs of candidate ids that match. Copies of one clip always belong together."""
    leader = {copy.candidate_id: copy.candidate_id for copy in copies}

    def find(key: int) -> int:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    first_of_slot: dict[int, int] = {}
    for copy in copies:
        if copy.clip_id is not None:
            leader[find(copy.candidate_id)] = find(first_of_slot.setdefault(copy.clip_id, copy.candidate_id))
    for one, other in matches:
        leader[find(one)] = find(other)
    groups: dict[int, list[SceneCopy]] = {}
    for copy in copies:
        groups.setdefault(find(copy.candidate_id), []).append(copy)
    scenes = (_scene(sorted(group, key=lambda copy: copy.candidate_id), same_duration) for group in groups.values())
    return tuple(sorted(scenes, key=lambda scene: scene.copies[0].candidate_id))


def choose_to_see_through(copies: Sequence[SceneCopy], same: frozenset[int], most: int = 2) -> tuple[int, ...]:
    """Choose the candidates whose films are worth a comparison: of each scene not known to be the same, a few.

    Films cost much more than hashes. The copy that is shown comes first; it is the best one.
    """
    known = {copy.clip_id for copy in copies if copy.candidate_id in same and copy.clip_id is not None}
    chosen: list[int] = []
    taken: dict[int, int] = {}
    for copy in sorted(copies, key=lambda each: (not each.shown, each.candidate_id)):
        if copy.candidate_id in same or copy.clip_id in known:
            continue
        if copy.clip_id is not None:
            taken[copy.clip_id] = taken.get(copy.clip_id, 0) + 1
            if taken[copy.clip_id] > most:
                continue
        chosen.append(copy.candidate_id)
    return tuple(chosen)


def best_copy(copies: Sequence[SceneCopy], same_duration: float) -> SceneCopy | None:
    """The largest file among those at most the fraction `same_duration` shorter than the longest, with sound first."""
    usable = _usable(copies)
    return max(_long_enough(_heard(usable) or usable, same_duration), key=lambda copy: copy.weight, default=None)


def kept_copies(copies: Sequence[SceneCopy], same_duration: float) -> frozenset[int]:
    """Copies that can still become the best one.

    A longer copy may arrive and push out larger but shorter ones, or one without sound so long that those with sound no
    longer count. A copy that is too short already, or no longer than a larger one, can never be the best.
    """
    usable = _usable(copies)
    candidates = _long_enough(usable, same_duration) + _long_enough(_heard(usable), same_duration)
    return frozenset(
        copy.candidate_id
        for copy in candidates
        if not any(
            other.weight > copy.weight and other.duration_seconds >= copy.duration_seconds for other in candidates
        )
    )


def _usable(copies: Sequence[SceneCopy]) -> list[SceneCopy]:
    return [copy for copy in copies if copy.usable]


def _heard(copies: Sequence[SceneCopy]) -> list[SceneCopy]:
    """Those with sound that are not much shorter than the longest."""
    least = _LONG_ENOUGH_TO_HEAR * _longest(copies)
    return [copy for copy in copies if not copy.silent and copy.duration_seconds > least]


def _long_enough(copies: Sequence[SceneCopy], same_duration: float) -> list[SceneCopy]:
    longest = _longest(copies)
    return [copy for copy in copies if longest - copy.duration_seconds <= same_duration * longest]


def _longest(copies: Sequence[SceneCopy]) -> float:
    return max((copy.duration_seconds for copy in copies), default=0.0)


def _scene(copies: Sequence[SceneCopy], same_duration: float) -> Scene:
    slots = sorted({copy.clip_id for copy in copies if copy.clip_id is not None})
    return Scene(
        copies=tuple(copies),
        best=best_copy(copies, same_duration),
        clip_id=slots[0] if slots else None,
        merged=tuple(slots[1:]),
        kept=kept_copies(copies, same_duration),
    )
