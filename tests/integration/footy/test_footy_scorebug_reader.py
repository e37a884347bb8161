"""Where the reader looks for a clock, and when it does not believe what it read."""

from collections.abc import Sequence

import numpy as np

from pressbox.footy.adapters.judges.scorebug_reader import Line, Picture, ScorebugReader
from pressbox.footy.domain.scorebug import ScorebugTexts

NOTHING = ScorebugTexts()
BOX = (100, 30, 180, 60)


class ScriptedReader:
    """Reads what it is told: lines by the size of the picture that is searched, and texts of single lines in turn."""

    def __init__(self, lines: dict[tuple[int, int], Sequence[Line]], texts: Sequence[str]) -> None:
        self._lines = lines
        self._texts = list(texts)
        self.searched: list[tuple[int, int]] = []

    def lines(self, picture: Picture) -> Sequence[Line]:
        size = (picture.shape[1], picture.shape[0])
        self.searched.append(size)
        return self._lines.get(size, [])

    def text(self, picture: Picture) -> str:
        return self._texts.pop(0)

    def certainty(self, picture: Picture) -> float:
        """Surest where the left half is the brighter one."""
        half = picture.shape[1] // 2
        return float(picture[:, :half].mean() >= picture[:, half:].mean())


CORNER, EDGES, WHOLE = (640, 108), (1280, 317), (960, 540)


def pictures(count: int) -> list[Picture]:
    return [np.full((360, 640, 3), 120, np.uint8) for _ in range(count)]


def test_a_clock_in_the_usual_corner_needs_no_further_search() -> None:
    reader = ScriptedReader({CORNER: [Line("ENG 1-0 GER", (0, 0, 90, 30)), Line("67:12", BOX)]}, ["67:12"])
    assert ScorebugReader(reader).read(pictures(1)) == [ScorebugTexts("67:12")]
    assert reader.searched == [CORNER]


def test_the_next_frame_is_read_where_the_clock_was() -> None:
    reader = ScriptedReader({CORNER: [Line("67:12", BOX)]}, ["67:12", "67:18", "67:18"])
    assert ScorebugReader(reader).read(pictures(2)) == [ScorebugTexts("67:12"), ScorebugTexts("67:18")]
    assert reader.searched == [CORNER]


def test_a_clock_that_moved_is_searched_again() -> None:
    reader = ScriptedReader({CORNER: [Line("67:12", BOX)]}, ["67:12", "", "67:12"])
    assert ScorebugReader(reader).read(pictures(2)) == [ScorebugTexts("67:12"), ScorebugTexts("67:12")]
    assert reader.searched == [CORNER, CORNER]


def test_a_clock_that_is_surer_in_a_mirror_is_no_clock() -> None:
    reader = ScriptedReader({CORNER: [Line("15:51", BOX)], EDGES: [Line("15:51", BOX)]}, ["15:51"] * 3)
    assert ScorebugReader(reader).read([gradient(60, 255)]) == [NOTHING]


class MirroredReader(ScriptedReader):
    """Reads texts only where the left half of the picture is the brighter one."""

    def lines(self, picture: Picture) -> Sequence[Line]:
        found = super().lines(picture)
        return found if self.certainty(picture) else [Line("", line.box) for line in found]


def gradient(begin: int, end: int) -> Picture:
    return np.tile(np.linspace(begin, end, 640).astype(np.uint8)[None, :, None], (360, 1, 3))


def test_a_mirrored_clip_is_read_in_a_mirror() -> None:
    places: dict[tuple[int, int], Sequence[Line]] = {CORNER: [Line("67:12", BOX)], WHOLE: [Line("67:12", BOX)]}
    reader = MirroredReader(places, ["67:12", "67:18", "67:18"])
    clip = [gradient(60, 255), gradient(60, 255)]
    assert ScorebugReader(reader).read(clip) == [ScorebugTexts("67:12"), ScorebugTexts("67:18")]


def test_a_clip_that_is_not_mirrored_is_searched_once() -> None:
    reader = MirroredReader({WHOLE: [Line("PRESSBOX", BOX)]}, [])
    assert ScorebugReader(reader).read([gradient(255, 60)]) == [NOTHING]
    assert reader.searched == [CORNER, EDGES, WHOLE]


def test_what_reads_differently_a_second_time_is_no_clock() -> None:
    reader = ScriptedReader({CORNER: [Line("1:38", BOX)]}, ["91:38"])
    assert ScorebugReader(reader).read(pictures(1)) == [NOTHING]


def test_edges_are_searched_after_the_corner_and_everything_once_per_clip() -> None:
    reader = ScriptedReader({}, [])
    assert ScorebugReader(reader).read(pictures(2)) == [NOTHING, NOTHING]
    assert reader.searched == [CORNER, EDGES, CORNER, EDGES, WHOLE]


def test_a_clock_anywhere_else_is_found_in_the_whole_picture() -> None:
    reader = ScriptedReader({WHOLE: [Line("67:12", (480, 270, 560, 300))]}, ["67:12"])
    assert ScorebugReader(reader).read(pictures(1)) == [ScorebugTexts("67:12")]


def test_numbers_of_players_make_no_score_beside_a_time_of_day() -> None:
    shirts = [Line("20", (300, 300, 320, 320)), Line("29", (500, 350, 520, 370))]
    reader = ScriptedReader({WHOLE: [Line("20:00", BOX), *shirts]}, [])
    assert ScorebugReader(reader).read(pictures(1)) == [NOTHING]
    beside = [Line("18", (200, 30, 220, 46)), Line("10", (240, 30, 260, 54))]
    assert ScorebugReader(ScriptedReader({WHOLE: [Line("20:00", BOX), *beside]}, [])).read(pictures(1)) == [NOTHING]
    score = [Line("2", (200, 30, 220, 60)), Line("0", (240, 30, 260, 60))]
    reader = ScriptedReader({WHOLE: [Line("20:00", BOX), *score]}, ["20:00", "2", "0"])
    assert ScorebugReader(reader).read(pictures(1)) == [ScorebugTexts("20:00")]


def test_what_is_announced_elsewhere_does_not_hide_the_clock() -> None:
    reader = ScriptedReader({WHOLE: [Line("67:12", BOX), Line("+4", (300, 400, 360, 440))]}, ["67:12"])
    assert ScorebugReader(reader).read(pictures(1)) == [ScorebugTexts("67:12")]


def test_a_clock_at_the_lower_edge_is_checked_where_it_is_in_the_whole_picture() -> None:
    below = Line("67:12", (100, 200, 180, 230))
    reader = ScriptedReader({EDGES: [below]}, ["67:12"])
    assert ScorebugReader(reader).read(pictures(1)) == [ScorebugTexts("67:12")]


def test_a_second_timer_outside_the_corner_is_looked_for_beside_a_stopped_clock() -> None:
    both = [Line("90:00", BOX), Line("+2:13", (700, 30, 760, 60))]
    reader = ScriptedReader({CORNER: both[:1], EDGES: both}, ["90:00", "90:00", "+2:13"])
    assert ScorebugReader(reader).read(pictures(1)) == [ScorebugTexts("90:00", "", "+2:13")]


def test_a_stopped_clock_without_a_second_timer_is_kept() -> None:
    reader = ScriptedReader({CORNER: [Line("90:00", BOX)]}, ["90:00"])
    assert ScorebugReader(reader).read(pictures(1)) == [ScorebugTexts("90:00")]


def test_no_pictures_are_no_clocks() -> None:
    assert ScorebugReader(ScriptedReader({}, [])).read([]) == []
