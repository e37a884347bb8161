"""What an invented clip shows. This module loads no picture library."""

from dataclasses import dataclass
from enum import StrEnum


class Camera(StrEnum):
    """How a match is filmed."""

    FOLLOWING = "following"  # the main camera follows the ball; longer clips end with a replay
    TACTICAL = "tactical"  # the whole pitch from high above; the camera hardly moves


class Scene(StrEnum):
    FOOTBALL = "football"
    STUDIO = "studio"  # a person who talks, with a banner
    STREET = "street"  # cars and houses
    TITLE = "title"
    FLAT = "flat"
    FADE = "fade"
    BLACK = "black"


@dataclass(frozen=True)
class ClipSpec:
    """What a clip shows; the same specification makes the same pictures.

    `broadcast` chooses stadium, shirts, camera and scoreboard; `seed` chooses what happens in front of them. Two
    clips of one broadcast with different seeds are two different goals of one match.
    `clock_start` is the match clock at the first frame, in seconds; without it the scoreboard has no clock. With
    `added_minutes` the main clock stands still at `clock_start` and a small one runs beside it from `added_start`.
    """

    seed: int
    scene: Scene = Scene.FOOTBALL
    broadcast: int = 0
    home: str = "HOM"
    away: str = "AWY"
    score: str = "1-0"
    clock_start: float | None = None
    added_minutes: int | None = None
    added_start: float = 0.0
    scoreboard: bool = True
    camera: Camera = Camera.FOLLOWING
    duration: float = 6.0
    width: int = 640
    height: int = 360
    rate: int = 25
    quality: int = 24  # x264's constant rate factor: lower is better and larger


class Disguise(StrEnum):
    """How a clip is altered when another account posts it."""

    LOW_QUALITY = "low quality"
    HIGH_QUALITY = "high quality"
    SMALLER = "smaller"
    LARGER = "larger"
    LETTERBOX = "letterbox"
    WINDOW_BOX = "window box"
    SIDE_BARS = "side bars"
    COLOURED_BORDER = "coloured border"
    CROP_5 = "crop 5 %"
    CROP_10 = "crop 10 %"
    CROP_15 = "crop 15 %"
    CROP_20 = "crop 20 %"
    CROP_CORNER = "crop into a corner"
    CROP_ANYWHERE = "crop at any place"
    CROP_RIGHT = "crop off the centre, to the right"
    CROP_UPPER = "crop off the centre, upwards"
    VERTICAL = "9:16"
    VERTICAL_LEFT = "9:16 from the left"
    VERTICAL_RIGHT = "9:16 from the right"
    VERTICAL_PANNED = "9:16 that moves across the picture"
    VERTICAL_BLURRED = "whole in 9:16 on a blurred background"
    BLURRED_SIDES = "9:16 in 16:9 on a blurred background"
    VERTICAL_IN_WIDE = "9:16 in 16:9"
    MIRROR = "mirrored"
    BRIGHTER = "brighter"
    DARKER = "darker"
    CONTRAST = "more contrast"
    GREY = "grey"
    TINT = "tint"
    LOGO = "logo"
    BANNER = "banner"
    CAPTION = "caption"
    CAPTIONS = "captions above and below"
    FASTER = "5 % faster"
    SLOWER = "5 % slower"
    MUCH_FASTER = "25 % faster"
    MUCH_SLOWER = "25 % slower"
    SLOW_MOTION = "slow motion"
    FRAME_RATE = "15 frames a second"
    CUT = "cut out of the middle"
    CUT_THREE = "cut out 3 s"
    CUT_SHORT = "cut out 2.5 s"
    PREPENDED = "other content before"
    APPENDED = "other content after"
    NOISE = "noise"
    BLUR = "blur"
    FILMED = "filmed from a screen"
    FILMED_BY_HAND = "filmed from a screen by hand"
    ROTATED = "rotated by three degrees"
    ROTATED_BACK = "rotated by five degrees to the other side"
    PICTURE_IN_PICTURE = "picture in picture"
    PICTURE_IN_STREET = "picture in a picture that moves"
    CRUSHED = "strong compression"
    CRUSHED_SMALL = "strong compression, half the size"
