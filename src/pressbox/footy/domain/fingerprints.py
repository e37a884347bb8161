"""Fingerprints of clips, and whether two clips show the same scene. Pure; numpy does the arithmetic."""

import struct
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pressbox.core.errors import InvalidInputError
from pressbox.footy.domain.match_rule import BETTER, Evidence, MatchRule

Hashes = NDArray[np.uint64]
Flags = NDArray[np.bool_]

# Stored clips are sampled every quarter second, new ones three times as often: two copies of a scene rarely start at
# the same frame, and a tenth of a second of a moving camera changes a third of the bits.
REFERENCE_STEP = 0.25
PHASES = 3

_MAGIC = b"PBF1"
_HEADER = struct.Struct("<4sBBI")
_TEXT_PREFIX = f"dense:{REFERENCE_STEP:g}:"
_HASH_BITS = 64
# An hour: the last time in a text decides how much memory is needed.
_LONGEST_TEXT = 4 * 3600
# How many positions are compared at once: bounds the memory that two static clips need.
_CHUNK = 65_536


class View(StrEnum):
    """What part of the picture was hashed. Stored in this order: add new ones at the end."""

    WHOLE = "whole"
    TRIMMED = "trimmed"  # without dark or plain borders
    MOVING = "moving"  # without borders that do not move
    CENTRE_90 = "centre 90 %"
    CENTRE_80 = "centre 80 %"
    CENTRE_70 = "centre 70 %"
    CENTRE_60 = "centre 60 %"
    UPRIGHT = "upright centre"
    UPPER_LEFT = "upper left 80 %"
    UPPER = "upper 80 %"
    UPPER_RIGHT = "upper right 80 %"
    LEFT = "left 80 %"
    RIGHT = "right 80 %"
    LOWER_LEFT = "lower left 80 %"
    LOWER = "lower 80 %"
    LOWER_RIGHT = "lower right 80 %"
    UPRIGHT_LEFT = "upright left"
    UPRIGHT_RIGHT = "upright right"


VIEWS = tuple(View)
# The first views show the whole picture; the others only a part of it.
UNCROPPED = 3


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """Hashes of the samples of a clip, one row per view. Sample `i` was taken at `i × 0.25 s / phases`.

    `telling` marks samples that carry information; the others (flat, black, missing) keep their places, so that every
    sample stays at its time. A fingerprint that was read from text has the whole picture as its only view.
    """

    hashes: Hashes
    telling: Flags
    phases: int = 1

    @property
    def samples(self) -> int:
        return int(self.hashes.shape[1])

    @property
    def duration(self) -> float:
        return self.samples * REFERENCE_STEP / self.phases

    @property
    def has_information(self) -> bool:
        return bool(self.telling.any())

    def reference(self) -> "Fingerprint":
        """The part that is stored: one sampling phase."""
        if self.phases == 1:
            return self
        return Fingerprint(self.hashes[:, :: self.phases].copy(), self.telling[:, :: self.phases].copy())

    @cached_property
    def mirrored(self) -> "Fingerprint":
        """The fingerprint of the clip flipped from left to right, computed without decoding it again."""
        rows = np.ascontiguousarray(self.hashes).view(np.uint8)
        return Fingerprint(_MIRRORED_ROW[rows].view(np.uint64), self.telling, self.phases)

    def phase(self, number: int) -> "Fingerprint":
        return Fingerprint(self.hashes[:, number :: self.phases], self.telling[:, number :: self.phases])

    def at_speed(self, speed: float, begin: int) -> "Fingerprint":
        """One sampling phase of the clip as if it were played at this speed: 2.0 undoes slow motion of one half."""
        steps = np.arange(int((self.samples - begin) / (self.phases * speed)))
        chosen = begin + np.round(steps * self.phases * speed).astype(np.intp)
        chosen = chosen[chosen < self.samples]
        return Fingerprint(self.hashes[:, chosen], self.telling[:, chosen])

    def same_as(self, other: "Fingerprint") -> bool:
        return (
            self.phases == other.phases
            and np.array_equal(self.hashes, other.hashes)
            and np.array_equal(self.telling, other.telling)
        )


@dataclass(frozen=True)
class Match:
    """Where the query shows what the reference shows: reference time = query time + `offset`, for `length` seconds."""

    offset: float
    length: float
    query_view: View
    reference_view: View
    mirrored: bool = False


def pack(fingerprint: Fingerprint) -> bytes:
    """Encode for storage: eight bytes and one bit per sample and view."""
    views, samples = fingerprint.hashes.shape
    flags = np.packbits(fingerprint.telling.reshape(-1)).tobytes()
    header = _HEADER.pack(_MAGIC, views, fingerprint.phases, samples)
    return header + fingerprint.hashes.astype("<u8").tobytes() + flags


def unpack(packed: bytes) -> Fingerprint:
    try:
        magic, views, phases, samples = _HEADER.unpack_from(packed)
    except struct.error as error:
        raise InvalidInputError("This is not a stored fingerprint: it is too short.", field="fingerprint") from error
    count = views * samples
    expected = _HEADER.size + 8 * count + (count + 7) // 8
    if magic != _MAGIC or not 1 <= views <= len(VIEWS) or phases not in (1, PHASES) or len(packed) != expected:
        raise InvalidInputError("This is not a stored fingerprint, or it is damaged.", field="fingerprint")
    hashes = np.frombuffer(packed, dtype="<u8", count=count, offset=_HEADER.size).astype(np.uint64)
    flags = np.frombuffer(packed, dtype=np.uint8, offset=_HEADER.size + 8 * count)
    telling = np.unpackbits(flags, count=count).astype(bool)
    return Fingerprint(hashes.reshape(views, samples), telling.reshape(views, samples), phases)


def to_text(fingerprint: Fingerprint) -> str:
    """Write the whole pictures of the reference as in the original document: `dense:0.25:<seconds>=<hash>,…`."""
    whole = fingerprint.reference().hashes[0]
    return _TEXT_PREFIX + ",".join(
        f"{index * REFERENCE_STEP:.2f}={int(value):016x}" for index, value in enumerate(whole)
    )


def from_text(text: str) -> Fingerprint:
    """Read what `to_text` wrote. Gaps are filled with samples without information."""
    if not text.startswith(_TEXT_PREFIX):
        raise InvalidInputError(f"A fingerprint begins with “{_TEXT_PREFIX}”.", field="fingerprint")
    body = text.removeprefix(_TEXT_PREFIX)
    try:
        pairs = [_parse_sample(part) for part in body.split(",")] if body else []
    except ValueError as error:
        raise InvalidInputError(
            "A sample of a fingerprint has the form <seconds>=<16 hex digits>.", field="fingerprint"
        ) from (error)
    samples = max((index for index, _ in pairs), default=-1) + 1
    hashes = np.zeros((1, samples), dtype=np.uint64)
    telling = np.zeros((1, samples), dtype=bool)
    for index, value in pairs:
        hashes[0, index] = value
        telling[0, index] = True
    return Fingerprint(hashes, telling)


def distances(left: Hashes, right: Hashes) -> NDArray[np.uint8]:
    """Count the bits that differ."""
    apart: NDArray[np.uint8] = np.bitwise_count(left ^ right)
    return apart


def match(query: Fingerprint, reference: Fingerprint, rule: MatchRule = BETTER) -> Match | None:
    """Find the longest common run that satisfies the first possible kind of evidence, or None.

    Only the stored phase of the reference is compared.
    """
    right = _reference_side(reference, rule)
    lefts = [_side(query.phase(number), rule) for number in range(query.phases if rule.thorough else 1)]
    for evidence in rule.evidence:
        best: tuple[_Run, int] | None = None
        for number, left in enumerate(lefts):
            run = _longest_run(left, right, evidence, rule)
            if run is not None and (best is None or run.length > best[0].length):
                best = run, number
        if best is not None:
            return _to_match(*best, query.phases, right)
    return _match_at_other_speeds(query, right, rule) if rule.thorough else None


@dataclass(frozen=True)
class _Side:
    """One side of a comparison: hashes per view, and which samples may be evidence."""

    hashes: Hashes
    counts: Flags

    def views(self, begin: int, end: int | None = None) -> "_Side":
        return _Side(self.hashes[begin:end], self.counts[begin:end])


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


def _match_at_other_speeds(query: Fingerprint, right: _Side, rule: MatchRule) -> Match | None:
    """Compare whole pictures only: a copy that was slowed down and cropped too is rare, and the time matters."""
    whole = right.views(0, UNCROPPED)
    for speed in rule.speeds:
        for begin in range(query.phases):
            left = _side(query.at_speed(speed, begin), rule).views(0, UNCROPPED)
            for evidence in rule.evidence_at_speeds:
                if (run := _longest(left, whole, evidence, rule)) is not None:
                    offset = run.offset * REFERENCE_STEP - begin * REFERENCE_STEP / query.phases
                    length = run.length * REFERENCE_STEP
                    return Match(offset, length, VIEWS[run.query_view], VIEWS[run.reference_view])
    return None


def _side(fingerprint: Fingerprint, rule: MatchRule) -> _Side:
    views = len(fingerprint.hashes) if rule.thorough else 1
    hashes = np.ascontiguousarray(fingerprint.hashes[:views])
    ones = np.bitwise_count(hashes)
    informed = (ones >= rule.information) & (ones <= _HASH_BITS - rule.information)
    return _Side(hashes, informed if rule.flat_counts else informed & fingerprint.telling[:views])


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


Spots = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


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
    best: _Run | None = None
    for hit, first in zip(*np.nonzero(runs), strict=True):
        start, offset = int(rows[hit] + around[first]), int(columns[hit] - rows[hit])
        query_view, reference_view = int(query_views[hit]), int(reference_views[hit])
        if best is not None and best.covers(query_view, reference_view, start, offset):
            continue
        if not _is_varied(left.hashes[query_view, start : start + evidence.run], rule):
            continue
        begin, end = _extend(left, right, (query_view, reference_view), start, offset, evidence.bits)
        if best is None or end - begin > best.length:
            best = _Run(query_view, reference_view, begin, offset, end - begin)
    return best


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


def _is_varied(window: Hashes, rule: MatchRule) -> bool:
    """Whether the run shows more than one picture: a still picture proves nothing."""
    return rule.variety == 0 or bool((distances(window[:, None], window[None]) >= rule.variety).any())


def _parse_sample(part: str) -> tuple[int, int]:
    seconds, digits = part.split("=")
    index, value = round(float(seconds) / REFERENCE_STEP), int(digits, 16)
    if not 0 <= index <= _LONGEST_TEXT or value >= 1 << _HASH_BITS or len(digits) != _HASH_BITS // 4:
        raise ValueError(part)
    return index, value


def _mirrored_rows() -> NDArray[np.uint8]:
    """For each row of eight comparisons its mirror: reversed order, each comparison inverted."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return np.packbits(1 - bits[:, ::-1], axis=1)[:, 0]


_MIRRORED_ROW = _mirrored_rows()
