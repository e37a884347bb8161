"""Makes fingerprints: samples frames as small grey pictures, finds their borders, and hashes their views."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from pressbox.footy.adapters.media.decoding import Picture, TimedFrame, decode_faster, open_video, read_frames, rotate
from pressbox.footy.adapters.media.films import FilmRecorder, Pictures
from pressbox.footy.domain.errors import NotAVideoError
from pressbox.footy.domain.fingerprints import PHASES, REFERENCE_STEP, VIEWS, Fingerprint

SMALL_WIDTH, SMALL_HEIGHT = 160, 90
LONGEST_SECONDS = 120.0
# A picture with less contrast than this is flat: black, one colour, a fade.
FLAT_SPREAD = 12.0
# A sample whose frame is this much later is a hole in the clip.
_HOLE_SECONDS = 0.5
_FRAMES_PER_REPORT = 25
_BORDER_SPREAD = 5.0
_BORDER_DARK = 24
# A border lasts; a dark line of half a second is none.
_BORDER_SAMPLES = 13
_LEAST_KEPT = 0.3
_LEAST_PICTURE = 0.7
_MOVED_GREYS = 7
# A blurred background has less than this share of the sharpness of the picture in front of it.
_SHARPNESS_SAMPLES = 12
_BLURRED_SHARE = 0.3
_EVEN_MARGINS = 0.06
_LEAST_MARGIN = 0.08
_MOVED_SHARE = 0.05
# Width and height of the centre views: crops on all sides, and the upright part of a wide picture (9:16 of 16:9).
_SIDE = 0.8
_SIDES = ((0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 0.5), (1.0, 0.5), (0.0, 1.0), (0.5, 1.0), (1.0, 1.0))
_UPRIGHT = 0.316
_UPRIGHT_PLACES = (0.2, 0.8)
_CENTRES = ((0.9, 0.9), (0.8, 0.8), (0.7, 0.7), (0.6, 0.6), (0.316, 1.0))

Box = tuple[int, int, int, int]


def fingerprint(path: Path, phases: int = PHASES, progress: Path | None = None) -> Fingerprint:
    """Hash a clip. The number of frames read so far is written to `progress`, for those who wait."""
    return fingerprint_and_film(path, phases, progress, filming=False)[0]


def fingerprint_and_film(
    path: Path, phases: int = PHASES, progress: Path | None = None, *, filming: bool = True
) -> tuple[Fingerprint, Pictures | None]:
    """Hash a clip and keep its film, reading it once."""
    recorder = FilmRecorder()
    with open_video(path) as (container, stream):
        decode_faster(stream)
        frames: Iterable[TimedFrame] = read_frames(container, stream)
        frames = frames if progress is None else _counted(frames, progress)
        small, holes = sample(recorder.watch(frames) if filming else frames, phases)
    return hash_samples(small, holes, phases), recorder.develop() if filming else None


def _counted(frames: Iterable[TimedFrame], progress: Path) -> Iterator[TimedFrame]:
    for number, frame in enumerate(frames):
        if number % _FRAMES_PER_REPORT == 0:
            progress.write_text(str(number))
        yield frame


def sample(moving: Iterable[TimedFrame], phases: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Take the first frame at or after every point of the grid, small and grey, and mark points without one nearby."""
    step = REFERENCE_STEP / phases
    small: list[Picture] = []
    holes: list[bool] = []
    for timed in moving:
        if timed.seconds > LONGEST_SECONDS:
            break
        if timed.seconds + 1e-6 < len(small) * step:
            continue
        grey = _small_grey(timed.frame)
        while len(small) * step <= timed.seconds + 1e-6:
            holes.append(timed.seconds - len(small) * step > _HOLE_SECONDS)
            small.append(grey)
    if not small:
        raise NotAVideoError("No frame of the video can be decoded.")
    return np.stack(small), np.array(holes)


def hash_samples(small: NDArray[np.uint8], holes: NDArray[np.bool_], phases: int) -> Fingerprint:
    boxes = trimmed_boxes(small)
    sharp = sharp_box(small)
    moving = [_inside(box, sharp) for box in moving_boxes(small, boxes, phases)]
    hashes = np.zeros((len(VIEWS), len(small)), dtype=np.uint64)
    telling = np.zeros((len(VIEWS), len(small)), dtype=bool)
    for index, grey in enumerate(small):
        for view, part in enumerate(_views(grey, boxes[index], moving[index])):
            hashes[view, index] = difference_hash(part)
            telling[view, index] = not holes[index] and float(part.std()) > FLAT_SPREAD
        # With a large border, the hash of the whole picture is a hash of the border.
        telling[0, index] &= _share(boxes[index]) >= _LEAST_PICTURE
    return Fingerprint(hashes, telling, phases)


def _views(grey: Picture, trimmed: Box, moving: Box) -> list[Picture]:
    """In the order of `VIEWS`."""
    inner = _cut(grey, trimmed)
    centres = (_crop(inner, *shares, 0.5, 0.5) for shares in _CENTRES)
    sides = (_crop(inner, _SIDE, _SIDE, across, down) for across, down in _SIDES)
    uprights = (_crop(inner, _UPRIGHT, 1.0, across, 0.5) for across in _UPRIGHT_PLACES)
    return [grey, inner, _cut(grey, moving), *centres, *sides, *uprights]


def difference_hash(grey: Picture) -> np.uint64:
    """Whether each of 8 × 8 places is darker than its right neighbour, after evening out the brightness."""
    tiny = cv2.resize(cv2.equalizeHist(grey), (9, 8), interpolation=cv2.INTER_AREA)
    rising = tiny[:, 1:] > tiny[:, :-1]
    return np.packbits(rising).view(">u8").astype(np.uint64)[0]  # type: ignore[no-any-return]


def trimmed_boxes(small: NDArray[np.uint8]) -> list[Box]:
    """Find the picture inside its border for every sample: (top, bottom, left, right)."""
    # One picture at a time: all at once would need many times their memory.
    rows = _border_lines(small.max(axis=2), np.stack([grey.std(axis=1) for grey in small]))
    columns = _border_lines(small.max(axis=1), np.stack([grey.std(axis=0) for grey in small]))
    return [(*_picture_range(row), *_picture_range(column)) for row, column in zip(rows, columns, strict=True)]


def moving_boxes(small: NDArray[np.uint8], trimmed: list[Box], phases: int) -> list[Box]:
    """Find the part inside the border that moves: captions, picture frames and the room around a screen do not."""
    if len(small) <= phases:
        return trimmed
    changed = np.abs(small[phases:].astype(np.int16) - small[:-phases]) > _MOVED_GREYS
    lines = [_extend_in_time(changed.mean(axis=axis) > _MOVED_SHARE, phases) for axis in (2, 1)]
    boxes = []
    for row, column, (top, bottom, left, right) in zip(*lines, trimmed, strict=True):
        first, last = _picture_range(~row)
        near, far = _picture_range(~column)
        box = (max(first, top), min(last, bottom), max(near, left), min(far, right))
        large = box[1] - box[0] > SMALL_HEIGHT // 5 and box[3] - box[2] > SMALL_WIDTH // 5
        boxes.append(box if large else (top, bottom, left, right))
    return boxes


def sharp_box(small: NDArray[np.uint8]) -> Box:
    """The part in focus, where the rest is a blurred background on two opposite sides; otherwise everything."""
    height, width = small.shape[1:]
    some = small[:: max(1, len(small) // _SHARPNESS_SAMPLES)]
    edges = np.mean([np.abs(cv2.Laplacian(grey, cv2.CV_32F)) for grey in some], axis=0)
    top, bottom = _sharp_range(edges.mean(axis=1))
    left, right = _sharp_range(edges[top:bottom].mean(axis=0))
    return (top, bottom, left, right) if (top, left) != (0, 0) else (0, height, 0, width)


def _sharp_range(sharpness: NDArray[np.float32]) -> tuple[int, int]:
    """First and last line in focus. Grass is smooth too, but a background is so on both sides alike."""
    count = len(sharpness)
    lines = np.flatnonzero(sharpness > _BLURRED_SHARE * np.percentile(sharpness, 90))
    if len(lines) == 0:
        return 0, count
    first, last = int(lines[0]), int(lines[-1]) + 1
    even = abs(first - (count - last)) <= _EVEN_MARGINS * count
    if not even or min(first, count - last) < _LEAST_MARGIN * count or last - first < _LEAST_KEPT * count:
        return 0, count
    return first, last


def _inside(box: Box, sharp: Box) -> Box:
    if sharp[0] == 0 and sharp[2] == 0:
        return box
    return max(box[0], sharp[0]), min(box[1], sharp[1]), max(box[2], sharp[2]), min(box[3], sharp[3])


def _extend_in_time(moving: NDArray[np.bool_], phases: int) -> NDArray[np.bool_]:
    """Count a line as moving if it moved within a second; the last samples have no later one to differ from."""
    padded = np.concatenate((moving, np.repeat(moving[-1:], phases, axis=0))).astype(np.uint8)
    return cv2.dilate(padded, np.ones((8 * phases + 1, 1), dtype=np.uint8)).astype(bool)


def _border_lines(brightest: NDArray[np.uint8], spread: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Lines without picture: dark or of one colour for a while."""
    blank = ((brightest <= _BORDER_DARK) | (spread <= _BORDER_SPREAD)).astype(np.uint8)
    return cv2.erode(blank, np.ones((_BORDER_SAMPLES, 1), dtype=np.uint8)).astype(bool)


def _picture_range(border: NDArray[np.bool_]) -> tuple[int, int]:
    """First and last line of the picture; all lines when hardly anything would be left."""
    lines = np.flatnonzero(~border)
    if len(lines) == 0 or lines[-1] + 1 - lines[0] < _LEAST_KEPT * len(border):
        return 0, len(border)
    return int(lines[0]), int(lines[-1]) + 1


def _share(box: Box) -> float:
    top, bottom, left, right = box
    return (bottom - top) * (right - left) / (SMALL_WIDTH * SMALL_HEIGHT)


def _cut(grey: Picture, box: Box) -> Picture:
    top, bottom, left, right = box
    return np.ascontiguousarray(grey[top:bottom, left:right])


def _crop(grey: Picture, width_share: float, height_share: float, across: float, down: float) -> Picture:
    """Cut out a part. Its place goes from 0, the left or upper edge, to 1, the right or lower one."""
    height, width = grey.shape
    spare_width, spare_height = 2 * round(width * (1 - width_share) / 2), 2 * round(height * (1 - height_share) / 2)
    left, top = round(spare_width * across), round(spare_height * down)
    return np.ascontiguousarray(grey[top : top + height - spare_height, left : left + width - spare_width])


def _small_grey(frame: VideoFrame) -> Picture:
    # Before the rotation, width and height are swapped.
    sideways = round(frame.rotation / 90) % 2 == 1
    size = (SMALL_HEIGHT, SMALL_WIDTH) if sideways else (SMALL_WIDTH, SMALL_HEIGHT)
    grey = frame.reformat(*size, "gray", interpolation="AREA").to_ndarray()
    return rotate(np.asarray(grey, dtype=np.uint8), frame.rotation)
