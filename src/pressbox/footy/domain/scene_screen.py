"""A cheap screen before the rule of `same_scene`: most strangers are told apart without comparing them. Pure.

The screen never changes a decision. Whatever the rule accepts contains at least one pair of samples that are no further
apart than the average it allows, because no average is below all its numbers. Such pairs are looked up instead of
searched: two hashes within `limit` bits agree within a few bits in at least one of four parts (a part each of which
differed by more than its radius would differ by more than `limit` in all), and a table tells which samples of the query
have a part like that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pressbox.footy.domain.fingerprints import HASH_BITS, UNCROPPED, VIEWS, Fingerprint, Flags, Hashes, View, distances
from pressbox.footy.domain.match_rule import BETTER, Evidence, MatchRule
from pressbox.footy.domain.same_scene import APART, are_varied, find_usable, match

Limits = NDArray[np.int8]

# Below this, making the tables costs more than comparing.
_FEWEST = 8
# Three minutes in all views: bounds the memory of the tables, about 70 entries for each sample.
_LARGEST = 40_000
# A camera that stands still has thousands of like samples; then the rule itself is no dearer than the screen.
_LONGEST_LIST = 1_000
_PARTS = 4
_KEYS = 1 << HASH_BITS // _PARTS
# How many references are looked up at once.
_BATCH = 16
# Two numbers that are equal by the rule may differ in their last digits here.
_ROUNDING = 1e-6
_TRIMMED = VIEWS.index(View.TRIMMED)


def find_matching(
    query: Fingerprint, references: Mapping[int, Fingerprint], rule: MatchRule = BETTER
) -> frozenset[int]:
    """Find the references in which the query shows a scene: those that `match` finds one by one."""
    possible = list(references)
    if rule.thorough and len(references) >= _FEWEST and query.hashes.size <= _LARGEST:
        screen = Screen(query, rule)
        batches = (possible[begin : begin + _BATCH] for begin in range(0, len(possible), _BATCH))
        possible = [number for some in batches for number in screen.keep_possible({n: references[n] for n in some})]
    return frozenset(number for number in possible if match(query, references[number], rule) is not None)


class Screen:
    """Tells which references cannot show a scene of the query. For thorough rules only."""

    def __init__(self, query: Fingerprint, rule: MatchRule) -> None:
        counts = find_usable(query, rule)
        limits = _limit_samples(query, counts, rule)
        self._rule = rule
        # At most one of two clips was cropped, so crops are only compared with whole pictures; see `same_scene`.
        self._whole = _Table.of(query.hashes[:UNCROPPED], limits[:UNCROPPED])
        self._cropped = _Table.of(query.hashes[UNCROPPED:], limits[UNCROPPED:])
        self._detailed = _Table.of(query.hashes[:0], limits[:0])
        if rule.detail is not None and len(query.hashes) >= rule.detail.views:
            ours = slice(_TRIMMED, _TRIMMED + 1)
            # All samples, because other speeds put them together in other ways.
            same = np.where(counts[ours], np.int8(rule.detail.first.mean), np.int8(-1))
            self._detailed = _Table.of(query.hashes[ours], same)

    def keep_possible(self, references: Mapping[int, Fingerprint]) -> list[int]:
        """Leave out the references that the rule cannot find."""
        stored = [reference.reference() for reference in references.values()]
        sides = [(one.hashes, find_usable(one, self._rule)) for one in stored]
        found = (
            self._whole.find_near(sides, slice(None))
            | self._cropped.find_near(sides, slice(UNCROPPED))
            | self._detailed.find_near(sides, slice(_TRIMMED, _TRIMMED + 1))
        )
        return [number for place, number in enumerate(references) if place in found]


@dataclass(frozen=True)
class _Table:
    """Hashes by their parts. Those with a part near `key` are a list, from `first[key]` on, `length[key]` long."""

    first: NDArray[np.int32]
    length: NDArray[np.int32]
    hashes: Hashes
    limits: Limits
    farthest: int

    @classmethod
    def of(cls, hashes: Hashes, limits: Limits) -> "_Table":
        """Make a table of the hashes whose limit is not negative, and of their mirror images."""
        chosen = limits >= 0
        seen = np.ascontiguousarray(hashes[chosen])[None]
        mirrored = Fingerprint(seen, np.ones(seen.shape, dtype=bool)).mirrored.hashes
        return cls._of_all(np.concatenate((seen, mirrored), axis=None), np.tile(limits[chosen], 2))

    @classmethod
    def _of_all(cls, hashes: Hashes, limits: Limits) -> "_Table":
        parts = _split(hashes)
        lengths, order = [], []
        for number in range(_PARTS):
            keys, places = [], []
            for limit in np.unique(limits):
                ball = _ball(_radii(int(limit))[number])
                rows = np.flatnonzero(limits == limit).astype(np.int32)
                keys.append((parts[number][rows] ^ ball[:, None]).reshape(-1))
                places.append(np.tile(rows, len(ball)))
            every = np.concatenate(keys) if keys else parts[number]
            lengths.append(np.bincount(every, minlength=_KEYS).astype(np.int32))
            # Stable, because that is how numbers of sixteen bits are sorted fastest.
            order.append(np.concatenate(places)[np.argsort(every, kind="stable")] if keys else every)
        length, rows = np.concatenate(lengths), np.concatenate(order)
        first = np.cumsum(length, dtype=np.int32) - length
        return cls(first, length, hashes[rows], limits[rows], int(limits.max(initial=0)))

    def find_near(self, sides: Sequence[tuple[Hashes, Flags]], views: slice) -> set[int]:
        """Tell the sides of which a hash in these views is within the limit of one in the table, by their places."""
        chosen = [hashes[views][counts[views]] for hashes, counts in sides]
        others = np.concatenate(chosen)
        if len(self.hashes) == 0 or len(others) == 0:
            return set()
        near = self._find(others)
        if near is None:
            return set(range(len(sides)))
        ends = np.cumsum([len(hashes) for hashes in chosen])
        return {int(place) for place in np.searchsorted(ends, near, side="right")}

    def _find(self, others: Hashes) -> NDArray[np.intp] | None:
        """The places of those that are near, or None when there is too much to look at."""
        keys = (_split(others) + (np.arange(_PARTS) * _KEYS)[:, None]).reshape(-1)
        length = self.length.take(keys)
        longest = int(length.max())
        if longest > _LONGEST_LIST:
            return None
        # The longest lists come first, so that those which have a next hash are always the first ones.
        order = np.argsort(_LONGEST_LIST - length.astype(np.uint16), kind="stable")
        going = len(keys) - np.cumsum(np.bincount(length))
        order = order[: int(going[0])]
        first, wanted = self.first.take(keys.take(order)), others.take(order % len(others))
        found = [np.empty(0, dtype=np.intp)]
        for round_, some in enumerate(going[:longest]):
            places = first[:some] + round_
            apart = distances(self.hashes.take(places), wanted[:some])
            hits = np.flatnonzero(apart <= self.farthest)
            found.append(hits[apart[hits] <= self.limits[places[hits]]])
        return order[np.concatenate(found)] % len(others)


def _limit_samples(query: Fingerprint, counts: Flags, rule: MatchRule) -> Limits:
    """How far the nearest sample of a run may be from each sample of the query; -1 when it is in no possible run."""
    limits = np.full(query.hashes.shape, -1, dtype=np.int8)
    for number in range(query.phases):
        hashes, usable = query.hashes[:, number :: query.phases], counts[:, number :: query.phases]
        for evidence in rule.evidence:
            within = limits[:, number :: query.phases]
            np.maximum(within, _limit_by(evidence, hashes, usable, rule), out=within)
    return limits


def _limit_by(evidence: Evidence, hashes: Hashes, counts: Flags, rule: MatchRule) -> Limits:
    views, samples = hashes.shape
    run = evidence.run
    if samples < run:
        return np.full((views, samples), -1, dtype=np.int8)
    windows = np.lib.stride_tricks.sliding_window_view
    allowed = np.full((views, samples - run + 1), evidence.mean)
    if evidence.share is not None:
        change = _changes(hashes, run)
        allowed = np.minimum(allowed, evidence.share * change)
        allowed[change < evidence.change - _ROUNDING] = -1
        # Where samples differ that much on average, two of them do.
        alike = change < rule.variety
        allowed[alike] = np.where(are_varied(windows(hashes, run, axis=1)[alike], rule), allowed[alike], -1)
    allowed[~windows(counts, run, axis=1).all(axis=2)] = -1
    floors = np.floor(allowed + _ROUNDING).astype(np.int8)
    around = np.pad(floors, ((0, 0), (run - 1, run - 1)), constant_values=-1)
    limits: Limits = windows(around, run, axis=1).max(axis=2)
    return limits


def _changes(hashes: Hashes, run: int) -> NDArray[np.float64]:
    """For every run of samples the mean distance of those that are most of a second apart."""
    views, samples = hashes.shape
    total = np.zeros((views, samples - run + 1), dtype=np.int64)
    pairs = 0
    for gap in range(APART, run):
        sums = np.zeros((views, samples - gap + 1), dtype=np.int64)
        np.cumsum(distances(hashes[:, gap:], hashes[:, :-gap]), axis=1, out=sums[:, 1:])
        here = run - gap
        total += sums[:, here:] - sums[:, :-here]
        pairs += here
    return total / pairs


def _radii(limit: int) -> tuple[int, ...]:
    """How far each part may be away: two hashes whose parts are all further apart differ by more than the limit."""
    more, rest = divmod(limit + 1, _PARTS)
    return tuple(more - 1 + (part < rest) for part in range(_PARTS))


def _split(hashes: Hashes) -> NDArray[np.uint16]:
    return np.ascontiguousarray(hashes.view(np.uint16).reshape(-1, _PARTS).T)


def _ball(radius: int) -> NDArray[np.uint16]:
    """All parts with at most `radius` ones; none for a negative radius."""
    bits = range(HASH_BITS // _PARTS)
    numbers = [sum(1 << bit for bit in chosen) for ones in range(radius + 1) for chosen in combinations(bits, ones)]
    return np.array(numbers, dtype=np.uint16)
