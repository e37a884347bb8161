"""Reads the clock of the scorebug with a text recogniser. Runs in the judge's child process only.

It looks into the usual corner first, which costs a quarter of the whole picture; then along the edges where other
broadcasts put the clock; then, once per clip, everywhere. Whatever was found is read again in another size, and the
two readings must agree: a wrong minute is worse than none. Copies are mirrored to hide what they are: a clip whose
texts are surer in a mirror is read there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray
from rapidocr import RapidOCR

from pressbox.footy.domain.clock import ClockReading, Doubt, MatchTime, possible_times
from pressbox.footy.domain.scorebug import ScorebugTexts, find_clock

Picture = NDArray[np.uint8]
Box = tuple[int, int, int, int]

# Letters of a scorebug are then 13 to 26 pixels high, which suits the detector; smaller videos are enlarged.
READ_HEIGHT = 720
_LONGEST_SIDE = 1280
_CORNER_WIDTH, _CORNER_HEIGHT = 0.5, 0.15
_UPPER_EDGE, _LOWER_EDGE = 0.18, 0.74
_WHOLE_SCALE = 0.75
_LETTER_HEIGHT = 48
_LEAST_SCORE = 0.6
# The rows of a scorebug, in heights of its letters, and how much smaller some of them are. Numbers on shirts are
# further away or smaller.
_MOST_ROWS, _LEAST_HEIGHT = 6, 0.6
# So much surer the longest lines of a picture are in a mirror, on average, when it is the picture that is mirrored.
_SURELY_MIRRORED = 0.15
_MOST_LINES_IN_A_MIRROR = 4
# A single digit looks alike on both sides; a word is wider than it is high.
_WIDTH_OF_A_WORD = 1.8
_PARAMETERS = {
    "Det.limit_type": "max",
    "Det.limit_side_len": _LONGEST_SIDE,
    "Global.use_cls": False,
    # Mirrored texts are hardly read, but they have a place.
    "Global.text_score": 0.0,
    "Global.log_level": "error",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


@dataclass(frozen=True)
class Line:
    """A line of text and its box in the picture: left, top, right, bottom. The text is empty when it is not sure."""

    text: str
    box: Box


@dataclass(frozen=True)
class ClockFinding:
    texts: ScorebugTexts
    lines: tuple[Line, ...] = ()

    @property
    def has_clock(self) -> bool:
        return bool(_times(self.texts))

    @property
    def is_stopped(self) -> bool:
        return any(time.doubt is Doubt.STOPPED for time in _times(self.texts))


class TextReader(Protocol):
    def lines(self, picture: Picture) -> Sequence[Line]:
        """Find lines and read them."""
        ...

    def text(self, picture: Picture) -> str:
        """Read a picture of one line."""
        ...

    def certainty(self, picture: Picture) -> float:
        """How sure the reading of one line is, from 0 to 1."""
        ...


class RapidReader:
    """RapidOCR with the models of its package. Loading takes a second and 200 MB."""

    def __init__(self) -> None:
        self._engine = RapidOCR(params=dict(_PARAMETERS))

    def lines(self, picture: Picture) -> Sequence[Line]:
        read = self._engine(picture, use_det=True, use_rec=True)
        texts, boxes, scores = getattr(read, "txts", None), getattr(read, "boxes", None), getattr(read, "scores", None)
        if texts is None or boxes is None or scores is None:
            return []
        return [
            Line(str(text) if score >= _LEAST_SCORE else "", _bounds(np.asarray(box)))
            for text, box, score in zip(texts, boxes, scores, strict=True)
        ]

    def text(self, picture: Picture) -> str:
        read = self._engine(picture, use_det=False, use_rec=True)
        texts, scores = getattr(read, "txts", None), getattr(read, "scores", None)
        return str(texts[0]) if texts and scores and scores[0] >= _LEAST_SCORE else ""

    def certainty(self, picture: Picture) -> float:
        scores = getattr(self._engine(picture, use_det=False, use_rec=True), "scores", None)
        return float(scores[0]) if scores else 0.0


class ScorebugReader:
    """Reads the clocks of one clip after the other, and remembers where a clip's scorebug is."""

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader

    def read(self, pictures: Sequence[Picture]) -> list[ScorebugTexts]:
        """Read the clock of each picture of one clip, in order; texts are empty where none can be read."""
        sized = [_resize(_crop_borders(picture)) for picture in pictures]
        found = self._read_upright(sized)
        if sized and not any(one.has_clock for one in found):
            middle = len(sized) // 2
            lines = self._find_everywhere(sized[middle])
            found[middle] = self._confirm(sized[middle], lines)
            if not found[middle].has_clock and self._are_mirrored(sized[middle], lines):
                found = self._read_upright([_mirror(picture) for picture in sized])
        return [one.texts for one in found]

    def _read_upright(self, pictures: Sequence[Picture]) -> list[ClockFinding]:
        found: list[ClockFinding] = []
        for picture in pictures:
            known = next((earlier for earlier in reversed(found) if earlier.has_clock), None)
            found.append(self._read_again(picture, known) or self._search(picture))
        return found

    def _search(self, picture: Picture) -> ClockFinding:
        height, width = picture.shape[:2]
        corner = picture[: round(height * _CORNER_HEIGHT), : round(width * _CORNER_WIDTH)]
        found = self._confirm(picture, self._reader.lines(corner))
        # Beside a stopped clock, a second timer may be outside the corner.
        if found.has_clock and not found.is_stopped:
            return found
        upper, lower = round(height * _UPPER_EDGE), round(height * _LOWER_EDGE)
        edges = np.concatenate((picture[:upper], picture[lower:]))
        lines = [_move_down(line, lower - upper if line.box[1] >= upper else 0) for line in self._reader.lines(edges)]
        wider = self._confirm(picture, lines)
        return wider if wider.has_clock else found

    def _find_everywhere(self, picture: Picture) -> Sequence[Line]:
        """Read the whole picture, made smaller: the last and most expensive resort."""
        size = (round(picture.shape[1] * _WHOLE_SCALE), round(picture.shape[0] * _WHOLE_SCALE))
        small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        return [_enlarge(line, 1 / _WHOLE_SCALE) for line in self._reader.lines(small)]

    def _read_again(self, picture: Picture, known: ClockFinding | None) -> ClockFinding | None:
        """Run the recogniser alone, where the clock was in the frame before."""
        if known is None:
            return None
        lines = [Line(self._reader.text(_cut(picture, line.box)), line.box) for line in known.lines]
        found = self._confirm(picture, lines)
        return found if found.has_clock else None

    def _confirm(self, picture: Picture, lines: Sequence[Line]) -> ClockFinding:
        texts = find_clock([line.text for line in lines])
        times = _times(texts)
        if not times:
            return ClockFinding(ScorebugTexts())
        # The lines that make up the clock: leaving out any of them changes the result.
        used = tuple(
            line for line in lines if find_clock([other.text for other in lines if other is not line]) != texts
        )
        if not _are_together(used):
            # 20:00 is a clock beside a score, and no clock if the score is two numbers of players.
            parts = ([other for other in lines if _are_together((line, other))] for line in used)
            found = (self._confirm(picture, part) for part in parts if len(part) < len(lines))
            return next((one for one in found if one.has_clock), ClockFinding(ScorebugTexts()))
        second = find_clock([self._reader.text(_cut(picture, line.box, wider=True)) for line in used])
        # Digits in a mirror still look like digits, so that a mirrored clock shows another time.
        if _minutes(_times(second)) != _minutes(times) or self._gain_in_mirror(picture, used) > 0:
            return ClockFinding(ScorebugTexts())
        return ClockFinding(texts, used)

    def _are_mirrored(self, picture: Picture, lines: Sequence[Line]) -> bool:
        words = [line for line in lines if _width(line) >= _WIDTH_OF_A_WORD * _height(line)]
        longest = sorted(words, key=_width, reverse=True)[:_MOST_LINES_IN_A_MIRROR]
        return bool(longest) and self._gain_in_mirror(picture, longest) >= _SURELY_MIRRORED

    def _gain_in_mirror(self, picture: Picture, lines: Sequence[Line]) -> float:
        """How much surer these lines are when they are read in a mirror, on average."""
        strips = [_cut(picture, line.box, wider=True) for line in lines]
        gains = [self._reader.certainty(_mirror(strip)) - self._reader.certainty(strip) for strip in strips]
        return sum(gains) / max(1, len(gains))


def _times(texts: ScorebugTexts) -> tuple[MatchTime, ...]:
    return possible_times(ClockReading(texts.clock, texts.added, texts.stoppage_clock))


def _minutes(times: Sequence[MatchTime]) -> list[int]:
    return [time.minute for time in times]


def _mirror(picture: Picture) -> Picture:
    return np.ascontiguousarray(picture[:, ::-1])


def _are_together(lines: Sequence[Line]) -> bool:
    """Whether they can be parts of one scorebug, which may have several rows."""
    heights = [_height(line) for line in lines]
    span = max(line.box[3] for line in lines) - min(line.box[1] for line in lines)
    return span <= _MOST_ROWS * max(heights) and min(heights) >= _LEAST_HEIGHT * max(heights)


def _width(line: Line) -> int:
    return line.box[2] - line.box[0]


def _height(line: Line) -> int:
    return line.box[3] - line.box[1]


def _crop_borders(picture: Picture) -> Picture:
    """Remove black bars, which move the scorebug away from its usual place."""
    bright = picture.max(axis=2) > 32
    rows = np.flatnonzero(bright.mean(axis=1) > 0.02)
    columns = np.flatnonzero(bright.mean(axis=0) > 0.02)
    if len(rows) < picture.shape[0] // 3 or len(columns) < picture.shape[1] // 3:
        return picture
    return picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _resize(picture: Picture) -> Picture:
    scale = min(READ_HEIGHT / picture.shape[0], _LONGEST_SIDE / picture.shape[1])
    size = (max(2, round(picture.shape[1] * scale)), max(2, round(picture.shape[0] * scale)))
    way = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    return np.asarray(cv2.resize(picture, size, interpolation=way), dtype=np.uint8)


def _cut(picture: Picture, box: Box, *, wider: bool = False) -> Picture:
    """Cut out one line. `wider` includes what is beside it, such as a digit that the detector missed."""
    left, top, right, bottom = box
    margin = (bottom - top) // 2 if wider else 0
    above = (bottom - top) // 8 if wider else 0
    height, width = picture.shape[:2]
    line = picture[
        max(0, top - above) : min(height, bottom + above), max(0, left - margin) : min(width, right + margin)
    ]
    if line.size == 0:
        return np.zeros((_LETTER_HEIGHT, _LETTER_HEIGHT, 3), dtype=np.uint8)
    size = (max(2, round(line.shape[1] * _LETTER_HEIGHT / line.shape[0])), _LETTER_HEIGHT)
    return np.asarray(cv2.resize(line, size, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


def _move_down(line: Line, down: int) -> Line:
    left, top, right, bottom = line.box
    return Line(line.text, (left, top + down, right, bottom + down))


def _enlarge(line: Line, scale: float) -> Line:
    left, top, right, bottom = (round(side * scale) for side in line.box)
    return Line(line.text, (left, top, right, bottom))


def _bounds(corners: NDArray[np.float32]) -> Box:
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return int(left), int(top), int(np.ceil(right)), int(np.ceil(bottom))
