"""Whether two clips show the same scene. Pure; numpy does the arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pressbox.footy.domain.fingerprints import (
    HASH_BITS,
    IN_THE_MIRROR,
    REFERENCE_STEP,
    UNCROPPED,
    VIEWS,
    Fingerprint,
    Flags,
    Hashes,
    View,
    distances,
)
from pressbox.footy.domain.match_rule import BETTER, Detail, Evidence, MatchRule

# How many positions are compared at once: bounds the memory that two static clips need.
_CHUNK = 65_536
_TRIMMED = VIEWS.index(View.TRIMMED)
# The share of the views that must tell something, and how far apart samples show how much a clip changes.
_MOST_VIEWS = 0.75
APART = 3


@dataclass(frozen=True)
class Match:
    """Where the query shows what the reference shows: reference time = query time + `offset`, for `length` seconds."""

    offset: float
    length: float
    query_view: View
    reference_view: View
    mirrored: bool = False


def match(query: Fingerprint, reference: Fingerprint, rule: MatchRule = BETTER) -> Match | None:
    """Find where the query shows what the reference shows, or None.

    First all views together, which is quick and sure; then single views, one of which may be cropped; then all views
    again at other speeds. Only the stored phase of the reference is compared.
    """
    right = _reference_side(reference, rule)
    lefts = [_side(query.phase(number), rule) for number in range(query.phases if rule.thorough else 1)]
    return (
        _match_in_detail(lefts, right, rule)
        or _match_single_views(lefts, right, query.phases, rule)
        or _match_at_other_speeds(query, right, rule)
    )


def find_usable(fingerprint: Fingerprint, rule: MatchRule) -> Flags:
    """Which samples may be evidence: not flat, and neither nearly all ones nor nearly all zeros."""
    ones = np.bitwise_count(fingerprint.hashes)
    told: Flags = (ones >= rule.information) & (ones <= HASH_BITS - rule.information)
    return told if rule.flat_counts else told & fingerprint.telling


def _match_in_detail(lefts: Sequence["_Side"], right: "_Side", rule: MatchRule) -> Match | None:
    """Find a run in which all views of both clips agree, at one of the sampling phases."""
    runs = [(run, number) for number, left in enumerate(lefts) if (run := _detailed_run(left, right, rule)) is not None]
    return _to_match(*max(runs, key=lambda one: one[0].length), len(lefts), right) if runs else None


def _match_single_views(lefts: Sequence["_Side"], right: "_Side", phases: int, rule: MatchRule) -> Match | None:
    """The longest run that satisfies the first possible kind of evidence."""
    for evidence in rule.evidence:
        best: tuple[_Run, int] | None = None
        for number, left in enumerate(lefts):
            run = _longest_run(left, right, evidence, rule)
            if run is not None and (best is None or run.length > best[0].length):
                best = run, number
        if best is not None:
            return _to_match(*best, phases, right)
    return None


def _match_at_other_speeds(query: Fingerprint, right: "_Side", rule: MatchRule) -> Match | None:
    for speed in rule.speeds:
        lefts = [_side(query.at_speed(speed, begin), rule) for begin in range(query.phases)]
        if (found := _match_in_detail(lefts, right, rule)) is not None:
            return found
    return None


@dataclass(frozen=True)
class _Side:
    """One side of a comparison: hashes per view, and which samples may be evidence."""

    hashes: Hashes
    counts: Flags

    def views(self, begin: int, end: int | None = None) -> "_Side":
        return _Side(self.hashes[begin:end], self.counts[begin:end])

    def part(self, views: slice, begin: int, length: int | None) -> "_Side":
        """Some samples of some views; a negative length leaves out the last ones."""
        end = None if length is None else begin + length if length >= 0 else length
        return _Side(self.hashes[views, begin:end], self.counts[views, begin:end])

    def in_the_mirror(self) -> "_Side":
        """The views in the order in which a mirrored copy has them."""
        order = IN_THE_MIRROR[len(self.hashes) > IN_THE_MIRROR][: len(self.hashes)]
        return _Side(self.hashes[order], self.counts[order])


@dataclass(frozen=True)
class _Run:
    query_view: int
    reference_view: int
    begin: int
    offset: int
    length: int

    def covers(self, query_view: int, reference_view: int, start: int, offset: int) -> bool:
        same = (self.query_view, self.reference_view, self.offset) == (query_view, reference_view, offset)
        return same and self.begin <= start < self.begin + self.length


def _detailed_run(left: _Side, right: _Side, rule: MatchRule) -> _Run | None:
    """Look for pictures without borders that are alike, and there compare all views of the two clips."""
    detail, views = rule.detail, len(right.hashes) // 2
    if detail is None or min(len(left.hashes), views) < detail.views:
        return None
    ours = left.views(_TRIMMED, _TRIMMED + 1)
    for begin in (0, views):
        theirs = right.views(begin, begin + views)
        run = _longest(ours, theirs.views(_TRIMMED, _TRIMMED + 1), detail.first, rule)
        if run is not None and _agree_in_detail(left, theirs if begin == 0 else theirs.in_the_mirror(), run, detail):
            return replace(run, query_view=_TRIMMED, reference_view=begin + _TRIMMED)
    return None


def _agree_in_detail(left: _Side, right: _Side, run: _Run, detail: Detail) -> bool:
    views = slice(_TRIMMED, min(len(left.hashes), len(right.hashes)))
    ours = left.part(views, run.begin, run.length)
    theirs = right.part(views, run.begin + run.offset, run.length)
    if run.length < detail.run:
        return False
    apart, enough = _mean_distances(ours, theirs)
    windows = np.lib.stride_tricks.sliding_window_view
    means = np.where(windows(enough, detail.run).all(axis=1), windows(apart, detail.run).mean(axis=1), HASH_BITS)
    return any(
        means[first] <= detail.share * _change(theirs.part(slice(None), int(first), detail.run))
        for first in np.flatnonzero(means <= detail.mean)
    )


def _mean_distances(ours: _Side, theirs: _Side) -> tuple[NDArray[np.float64], Flags]:
    """The distance of each pair of samples, averaged over the views, and whether most views tell something."""
    both = ours.counts & theirs.counts
    apart = np.where(both, distances(ours.hashes, theirs.hashes), 0).sum(axis=0)
    return apart / np.maximum(both.sum(axis=0), 1), both.mean(axis=0) >= _MOST_VIEWS


def _change(side: _Side) -> float:
    """How much a run changes: the mean distance of samples that are most of a second apart."""
    apart = [
        _mean_distances(side.part(slice(None), 0, -gap), side.part(slice(None), gap, None))[0]
        for gap in range(APART, side.hashes.shape[1])
    ]
    return float(np.concatenate(apart).mean())


def _side(fingerprint: Fingerprint, rule: MatchRule) -> _Side:
    views = len(fingerprint.hashes) if rule.thorough else 1
    return _Side(np.ascontiguousarray(fingerprint.hashes[:views]), find_usable(fingerprint, rule)[:views])


def _reference_side(reference: Fingerprint, rule: MatchRule) -> _Side:
    """The reference with its mirrored views appended."""
    stored = reference.reference()
    side = _side(stored, rule)
    if not rule.thorough:
        return side
    mirrored = _side(stored.mirrored, rule)
    return _Side(np.concatenate((side.hashes, mirrored.hashes)), np.concatenate((side.counts, mirrored.counts)))


def _to_match(run: _Run, phase: int, phases: int, right: _Side) -> Match:
    views = len(right.hashes) // 2 or 1
    offset = run.offset * REFERENCE_STEP - phase * REFERENCE_STEP / phases
    mirrored = run.reference_view >= views
    reference_view = VIEWS[run.reference_view % views]
    return Match(offset, run.length * REFERENCE_STEP, VIEWS[run.query_view], reference_view, mirrored)


def _longest_run(left: _Side, right: _Side, evidence: Evidence, rule: MatchRule) -> _Run | None:
    """Compare crops of one side only with uncropped views of the other: at most one of two clips was cropped."""
    cropped = len(left.hashes) > UNCROPPED
    runs = [_longest(left.views(0, UNCROPPED), right, evidence, rule)]
    if cropped:
        for begin in (0, len(right.hashes) // 2):
            run = _longest(left.views(UNCROPPED), right.views(begin, begin + UNCROPPED), evidence, rule)
            if run is not None:
                run = replace(run, query_view=run.query_view + UNCROPPED, reference_view=run.reference_view + begin)
            runs.append(run)
    return max((run for run in runs if run is not None), key=lambda run: run.length, default=None)


def _longest(left: _Side, right: _Side, evidence: Evidence, rule: MatchRule) -> _Run | None:
    """Compare all views of one side with all of the other, at all offsets.

    A run of `run` samples contains exactly one of every `run`-th sample. Only these are compared with everything; that
    finds all runs and leaves few places to look at closely.
    """
    rows = np.arange(evidence.run - 1, left.hashes.shape[1], evidence.run)
    views, picks = np.nonzero(left.counts[:, rows])
    if len(views) == 0:
        return None
    chosen = left.hashes[views, rows[picks]]
    near = distances(chosen[:, None], right.hashes.reshape(1, -1)) <= evidence.bits
    near &= right.counts.reshape(1, -1)
    # Much faster than np.nonzero on the table.
    found, places = np.divmod(np.flatnonzero(near), near.shape[1])
    best: _Run | None = None
    for begin in range(0, len(found), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        ours, theirs = found[part], places[part]
        spots = (views[ours], rows[picks[ours]], *np.divmod(theirs, right.hashes.shape[1]))
        run = _longest_at(left, right, spots, evidence, rule)
        if run is not None and (best is None or run.length > best.length):
            best = run
    return best


Places = NDArray[np.intp]
Spots = tuple[Places, Places, Places, Places]


def _longest_at(left: _Side, right: _Side, spots: Spots, evidence: Evidence, rule: MatchRule) -> _Run | None:
    """The longest run through one of these places (view and sample of the query, then of the reference)."""
    query_views, rows, reference_views, columns = spots
    around = np.arange(1 - evidence.run, evidence.run)
    ours, theirs = rows[:, None] + around, columns[:, None] + around
    inside = (ours >= 0) & (ours < left.hashes.shape[1]) & (theirs >= 0) & (theirs < right.hashes.shape[1])
    ours, theirs = np.where(inside, ours, 0), np.where(inside, theirs, 0)
    apart = distances(left.hashes[query_views[:, None], ours], right.hashes[reference_views[:, None], theirs])
    near = inside & (apart <= evidence.bits)
    near &= left.counts[query_views[:, None], ours] & right.counts[reference_views[:, None], theirs]
    windows = np.lib.stride_tricks.sliding_window_view
    sums = windows(apart, evidence.run, axis=1).sum(axis=2, dtype=np.int64)
    runs = windows(near, evidence.run, axis=1).all(axis=2) & (sums <= evidence.mean * evidence.run)
    hits, firsts = np.nonzero(runs)
    if len(hits) == 0:
        return None
    varied = _are_varied(left, query_views[hits], rows[hits] + around[firsts], evidence.run, rule)
    best: _Run | None = None
    for hit, first in zip(hits[varied], firsts[varied], strict=True):
        start, offset = int(rows[hit] + around[first]), int(columns[hit] - rows[hit])
        query_view, reference_view = int(query_views[hit]), int(reference_views[hit])
        if best is not None and best.covers(query_view, reference_view, start, offset):
            continue
        window = left.hashes[query_view, start : start + evidence.run]
        other = right.hashes[reference_view, start + offset : start + offset + evidence.run]
        if not _is_near(int(sums[hit, first]), window, other, evidence):
            continue
        begin, end = _extend(left, right, (query_view, reference_view), start, offset, evidence.bits)
        if best is None or end - begin > best.length:
            best = _Run(query_view, reference_view, begin, offset, end - begin)
    return best


def _is_near(apart: int, ours: Hashes, theirs: Hashes, evidence: Evidence) -> bool:
    """Whether the two clips differ much less than either of them changes during the run."""
    if evidence.share is None:
        return True
    change = min(_change_of_one_view(ours), _change_of_one_view(theirs))
    return change >= evidence.change and apart <= evidence.share * len(ours) * change


def _change_of_one_view(window: Hashes) -> float:
    apart = [distances(window[gap:], window[:-gap]) for gap in range(APART, len(window))]
    return float(np.concatenate(apart).mean())


def _extend(left: _Side, right: _Side, views: tuple[int, int], start: int, offset: int, bits: int) -> tuple[int, int]:
    """Extend a run in both directions; returns begin and end."""
    low, high = max(0, -offset), min(left.hashes.shape[1], right.hashes.shape[1] - offset)
    ours, theirs = (views[0], slice(low, high)), (views[1], slice(low + offset, high + offset))
    near = (distances(left.hashes[ours], right.hashes[theirs]) <= bits) & left.counts[ours] & right.counts[theirs]
    breaks = np.flatnonzero(~near) + low
    place = int(np.searchsorted(breaks, start))
    begin = int(breaks[place - 1]) + 1 if place > 0 else low
    end = int(breaks[place]) if place < len(breaks) else high
    return begin, end


def _are_varied(left: _Side, views: Places, starts: Places, run: int, rule: MatchRule) -> Flags:
    """Which runs show more than one picture. Two still clips have the same few runs in very many places."""
    places, again = np.unique(views * left.hashes.shape[1] + starts, return_inverse=True)
    view, start = np.divmod(places, left.hashes.shape[1])
    return are_varied(left.hashes[view[:, None], start[:, None] + np.arange(run)], rule)[again]


def are_varied(windows: Hashes, rule: MatchRule) -> Flags:
    """Whether each of the runs shows more than one picture: a still picture proves nothing."""
    varied = np.full(len(windows), rule.variety == 0)
    for gap in range(1, windows.shape[1]):
        varied |= (distances(windows[:, gap:], windows[:, :-gap]) >= rule.variety).any(axis=1)
    return varied
