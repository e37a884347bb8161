"""Draws the scoreboard in the corner: names, score and a running clock."""

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.spec import ClipSpec

Picture = NDArray[np.uint8]

_FONT = cv2.FONT_HERSHEY_DUPLEX
_STYLES = (
    ((42, 26, 18), (255, 255, 255), (60, 40, 200)),
    ((250, 250, 250), (20, 20, 20), (200, 120, 20)),
    ((30, 30, 30), (240, 240, 240), (30, 160, 60)),
)


def draw_scoreboard(shown: Picture, spec: ClipSpec, seconds: float) -> None:
    """Draw it top left; the clock is left or right of the names, depending on the broadcast."""
    board = _draw_board(spec, clock_text(spec, seconds), added_text(spec, seconds))
    top, left = round(0.05 * spec.height), round(0.04 * spec.width)
    bottom, right = min(top + board.shape[0], spec.height), min(left + board.shape[1], spec.width)
    shown[top:bottom, left:right] = board[: bottom - top, : right - left]


def clock_text(spec: ClipSpec, seconds: float) -> str:
    if spec.clock_start is None:
        return ""
    moment = spec.clock_start if spec.added_minutes is not None else spec.clock_start + seconds
    return f"{int(moment) // 60:02d}:{int(moment) % 60:02d}"


def added_text(spec: ClipSpec, seconds: float) -> str:
    if spec.added_minutes is None:
        return ""
    moment = int(spec.added_start + seconds)
    return f"+{spec.added_minutes}  {moment // 60:02d}:{moment % 60:02d}"


@lru_cache(maxsize=64)
def _draw_board(spec: ClipSpec, clock: str, added: str) -> Picture:
    """Cached, because it changes only once a second."""
    back, ink, accent = _STYLES[spec.broadcast % len(_STYLES)]
    height = max(14, round(0.075 * spec.height))
    names = f"{spec.home} {spec.score} {spec.away}"
    boxes = [_draw_box(names, height, back, ink)]
    if clock:
        boxes.insert(spec.broadcast % 2, _draw_box(clock, height, accent, (255, 255, 255)))
    if added:
        boxes.append(_draw_box(added, height, (255, 255, 255), (0, 0, 0)))
    return np.concatenate(boxes, axis=1)


def _draw_box(text: str, height: int, back: tuple[int, int, int], ink: tuple[int, int, int]) -> Picture:
    # Drawn larger and then shrunk, because the fonts of the library have no smooth edges.
    scale = 4
    size = height * scale * 0.5 / 21
    (width, text_height), _ = cv2.getTextSize(text, _FONT, size, scale + 2)
    board = np.full((height * scale, width + height * scale * 6 // 10, 3), back, dtype=np.uint8)
    origin = (height * scale * 3 // 10, (height * scale + text_height) // 2)
    cv2.putText(board, text, origin, _FONT, size, ink, scale + 2, cv2.LINE_AA)
    small = cv2.resize(board, (board.shape[1] // scale, height), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8)
