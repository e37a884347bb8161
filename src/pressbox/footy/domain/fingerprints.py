"""Fingerprints of clips: hashes of their pictures over time, and their stored form. Pure; numpy does the arithmetic."""

import struct
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pressbox.core.errors import InvalidInputError

Hashes = NDArray[np.uint64]
Flags = NDArray[np.bool_]

# Stored clips are sampled every quarter second, new ones three times as often: two copies of a scene rarely start at
# the same frame, and a tenth of a second of a moving camera changes a third of the bits.
REFERENCE_STEP = 0.25
PHASES = 3

_MAGIC = b"PBF1"
_HEADER = struct.Struct("<4sBBI")
# A fingerprint with a film behind it: the length of the fingerprint stands between.
_MAGIC_WITH_FILM = b"PBF2"
_FILM_HEADER = struct.Struct("<4sI")
_TEXT_PREFIX = f"dense:{REFERENCE_STEP:g}:"
HASH_BITS = 64
# An hour: the last time in a text decides how much memory is needed.
_LONGEST_TEXT = 4 * 3600


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
# Which view shows in the mirror what a view shows.
IN_THE_MIRROR = np.array([0, 1, 2, 3, 4, 5, 6, 7, 10, 9, 8, 12, 11, 15, 14, 13, 17, 16])


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


def pack(fingerprint: Fingerprint) -> bytes:
    """Encode for storage: eight bytes and one bit per sample and view."""
    views, samples = fingerprint.hashes.shape
    flags = np.packbits(fingerprint.telling.reshape(-1)).tobytes()
    header = _HEADER.pack(_MAGIC, views, fingerprint.phases, samples)
    return header + fingerprint.hashes.astype("<u8").tobytes() + flags


def join_film(packed: bytes, film: bytes) -> bytes:
    """Put the film of a clip behind its fingerprint: they are stored and travel together."""
    return _FILM_HEADER.pack(_MAGIC_WITH_FILM, len(packed)) + packed + film


def split_film(stored: bytes) -> tuple[bytes, bytes | None]:
    """Return the packed fingerprint, and the film if there is one: clips that were stored long ago have none."""
    if not stored.startswith(_MAGIC_WITH_FILM) or len(stored) < _FILM_HEADER.size:
        return stored, None
    _, length = _FILM_HEADER.unpack_from(stored)
    begin = _FILM_HEADER.size
    return stored[begin : begin + length], stored[begin + length :]


def unpack(stored: bytes) -> Fingerprint:
    """Read a fingerprint, with or without a film behind it."""
    packed, _ = split_film(stored)
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


def _parse_sample(part: str) -> tuple[int, int]:
    seconds, digits = part.split("=")
    index, value = round(float(seconds) / REFERENCE_STEP), int(digits, 16)
    if not 0 <= index <= _LONGEST_TEXT or value >= 1 << HASH_BITS or len(digits) != HASH_BITS // 4:
        raise ValueError(part)
    return index, value


def _mirrored_rows() -> NDArray[np.uint8]:
    """For each row of eight comparisons its mirror: reversed order, each comparison inverted."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return np.packbits(1 - bits[:, ::-1], axis=1)[:, 0]


_MIRRORED_ROW = _mirrored_rows()
