"""What a clip looks like over time, and whether two clips show the same scene. Pure; numpy does the arithmetic."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pressbox.core.errors import InvalidInputError
from pressbox.footy.domain.match_rule import BETTER, MatchRule

Hashes = NDArray[np.uint64]
Flags = NDArray[np.bool_]

# Stored clips are sampled every quarter second. A new clip is sampled three times as often: two copies of a scene
# were hardly ever cut at the same frame, and a tenth of a second of moving camera changes a third of the bits.
REFERENCE_STEP = 0.25
PHASES = 3

_MAGIC = b"PBF1"
_HEADER = struct.Struct("<4sBBI")
_TEXT_PREFIX = f"dense:{REFERENCE_STEP:g}:"
_HASH_BITS = 64
# An hour: the last time in a text decides how much memory is taken.
_LONGEST_TEXT = 4 * 3600
# How many candidate positions are looked at in one piece: bounds the memory that two static clips could take.
_CHUNK = 65_536


class View(StrEnum):
    """What part of the picture was hashed. The order is the order in storage: add at the end."""

    WHOLE = "whole"
    TRIMMED = "trimmed"


VIEWS = tuple(View)


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """Hashes of the samples of a clip, one row per view. Sample `i` was taken at `i × 0.25 s / phases`.

    `telling` marks samples that carry information; the others (flat, black, missing) are kept so that every sample
    stays at its time. Not every fingerprint has every view: one read from text has the whole picture only.
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
        """What is stored of a clip: one sampling phase."""
        if self.phases == 1:
            return self
        return Fingerprint(self.hashes[:, :: self.phases].copy(), self.telling[:, :: self.phases].copy())

    @cached_property
    def mirrored(self) -> "Fingerprint":
        """As if the clip had been flipped from left to right: a difference hash needs no second look at the frames."""
        rows = np.ascontiguousarray(self.hashes).view(np.uint8)
        return Fingerprint(_MIRRORED_ROW[rows].view(np.uint64), self.telling, self.phases)

    def phase(self, number: int) -> "Fingerprint":
        return Fingerprint(self.hashes[:, number :: self.phases], self.telling[:, number :: self.phases])

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
    """The compact form for storage: eight bytes and one bit per sample and view."""
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
    """`dense:0.25:<seconds>=<hash>,…`: the whole pictures of the reference, as the original document writes them."""
    whole = fingerprint.reference().hashes[0]
    return _TEXT_PREFIX + ",".join(
        f"{index * REFERENCE_STEP:.2f}={int(value):016x}" for index, value in enumerate(whole)
    )


def from_text(text: str) -> Fingerprint:
    """Reads what `to_text` wrote. Gaps are filled with samples that tell nothing."""
    if not text.startswith(_TEXT_PREFIX):
        raise InvalidInputError(f"A fingerprint begins with “{_TEXT_PREFIX}”.", field="fingerprint")
    body = text.removeprefix(_TEXT_PREFIX)
    try:
        pairs = [_sample(part) for part in body.split(",")] if body else []
    except ValueError as error:
        raise InvalidInputError(
            "A sample of a fingerprint reads <seconds>=<16 hex digits>.", field="fingerprint"
        ) from (error)
    samples = max((index for index, _ in pairs), default=-1) + 1
    hashes = np.zeros((1, samples), dtype=np.uint64)
    telling = np.zeros((1, samples), dtype=bool)
    for index, value in pairs:
        hashes[0, index] = value
        telling[0, index] = True
    return Fingerprint(hashes, telling)


def distances(left: Hashes, right: Hashes) -> NDArray[np.uint8]:
    """How many bits differ."""
    apart: NDArray[np.uint8] = np.bitwise_count(left ^ right)
    return apart


def match(query: Fingerprint, reference: Fingerprint, rule: MatchRule = BETTER) -> Match | None:
    """The longest common run that the rule accepts, or None. The reference is compared in its one stored phase."""
    stored = reference.reference()
    best: Match | None = None
    for number in range(query.phases if rule.thorough else 1):
        phase = query.phase(number)
        shift = number * REFERENCE_STEP / query.phases
        for query_view, reference_view, mirrored in _comparisons(phase, stored, rule):
            side = stored.mirrored if mirrored else stored
            found = _longest_run(
                (phase.hashes[query_view], _counting(phase, query_view, rule)),
                (side.hashes[reference_view], _counting(side, reference_view, rule)),
                rule,
            )
            if found is not None and (best is None or found[2] * REFERENCE_STEP > best.length):
                begin, other, length = found
                offset = (other - begin) * REFERENCE_STEP - shift
                best = Match(offset, length * REFERENCE_STEP, VIEWS[query_view], VIEWS[reference_view], mirrored)
    return best


def _comparisons(query: Fingerprint, reference: Fingerprint, rule: MatchRule) -> Iterator[tuple[int, int, bool]]:
    if not rule.thorough:
        yield 0, 0, False
        return
    for query_view in range(len(query.hashes)):
        for reference_view in range(len(reference.hashes)):
            yield query_view, reference_view, False
            yield query_view, reference_view, True


def _counting(fingerprint: Fingerprint, view: int, rule: MatchRule) -> Flags:
    """Which samples may be evidence."""
    ones = np.bitwise_count(fingerprint.hashes[view])
    informed: Flags = (ones >= rule.information) & (ones <= _HASH_BITS - rule.information)
    return informed if rule.flat_counts else informed & fingerprint.telling[view]


def _longest_run(
    query: tuple[Hashes, Flags], reference: tuple[Hashes, Flags], rule: MatchRule
) -> tuple[int, int, int] | None:
    """Begin in the query, begin in the reference, and length in samples of the longest accepted run.

    A run of `run` samples covers exactly one sample of every `run`-th: only these are compared with everything, which
    leaves few places to look at closely, and finds all runs.
    """
    (left, left_counts), (right, right_counts) = query, reference
    rows = np.arange(rule.run - 1, len(left), rule.run)
    rows = rows[left_counts[rows]]
    near = (distances(left[rows, None], right[None]) <= rule.bits) & right_counts[None]
    found, columns = np.nonzero(near)
    best: tuple[int, int, int] | None = None
    for begin in range(0, len(found), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        candidate = _longest_at(query, reference, rows[found[part]], columns[part], rule)
        if candidate is not None and (best is None or candidate[2] > best[2]):
            best = candidate
    return best


def _longest_at(
    query: tuple[Hashes, Flags],
    reference: tuple[Hashes, Flags],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    rule: MatchRule,
) -> tuple[int, int, int] | None:
    """The same, only among the diagonals that pass through these places."""
    (left, left_counts), (right, right_counts) = query, reference
    around = np.arange(1 - rule.run, rule.run)
    left_index, right_index = rows[:, None] + around, columns[:, None] + around
    inside = (left_index >= 0) & (left_index < len(left)) & (right_index >= 0) & (right_index < len(right))
    left_index, right_index = np.where(inside, left_index, 0), np.where(inside, right_index, 0)
    near = inside & (distances(left[left_index], right[right_index]) <= rule.bits)
    near &= left_counts[left_index] & right_counts[right_index]
    runs = np.lib.stride_tricks.sliding_window_view(near, rule.run, axis=1).all(axis=2)
    hits, begins = np.nonzero(runs)
    best: tuple[int, int, int] | None = None
    seen: set[tuple[int, int]] = set()
    for hit, first in zip(hits, begins, strict=True):
        start = int(rows[hit]) + int(around[first])
        offset = int(columns[hit]) - int(rows[hit])
        if (offset, start) in seen:
            continue
        begin, end = _extended(query, reference, start, offset, rule)
        seen.update((offset, position) for position in range(begin, end - rule.run + 1))
        if (best is None or end - begin > best[2]) and _various(left, begin, end, rule):
            best = (begin, begin + offset, end - begin)
    return best


def _extended(
    query: tuple[Hashes, Flags], reference: tuple[Hashes, Flags], start: int, offset: int, rule: MatchRule
) -> tuple[int, int]:
    """How far the run reaches in both directions."""
    (left, left_counts), (right, right_counts) = query, reference
    low, high = max(0, -offset), min(len(left), len(right) - offset)
    span, other = slice(low, high), slice(low + offset, high + offset)
    near = (distances(left[span], right[other]) <= rule.bits) & left_counts[span] & right_counts[other]
    apart = np.flatnonzero(~near) + low
    place = int(np.searchsorted(apart, start))
    begin = int(apart[place - 1]) + 1 if place > 0 else low
    end = int(apart[place]) if place < len(apart) else high
    return begin, end


def _various(hashes: Hashes, begin: int, end: int, rule: MatchRule) -> bool:
    """Whether the run shows more than one picture."""
    if rule.variety == 0:
        return True
    window = hashes[begin:end]
    return bool((distances(window[:, None], window[None]) >= rule.variety).any())


def _sample(part: str) -> tuple[int, int]:
    seconds, digits = part.split("=")
    index, value = round(float(seconds) / REFERENCE_STEP), int(digits, 16)
    if not 0 <= index <= _LONGEST_TEXT or value >= 1 << _HASH_BITS or len(digits) != _HASH_BITS // 4:
        raise ValueError(part)
    return index, value


def _mirrored_rows() -> NDArray[np.uint8]:
    """A row of eight comparisons read from right to left, each the other way round."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return np.packbits(1 - bits[:, ::-1], axis=1)[:, 0]


_MIRRORED_ROW = _mirrored_rows()
