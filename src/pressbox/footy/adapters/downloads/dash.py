"""Reads DASH playlists whose picture and sound are one file each, as Reddit's are. Pure.

Playlists of many segments are left to the program that reads pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urljoin

# The parser does not expand anything: declarations of entities are refused below.
from xml.parsers import expat

TALLEST = 1080
_MOST_ELEMENTS = 5_000
_SOUND_CODECS = ("mp4a", "opus", "ac-3", "ec-3", "vorbis", "flac")
_SEGMENTS = frozenset({"SegmentTemplate", "SegmentList"})


class UnsupportedPlaylistError(Exception):
    """It cannot be read, or its streams are not whole files."""


@dataclass(frozen=True)
class Streams:
    """`sound` is None when the playlist offers none, or when the picture's file holds it."""

    picture: str
    sound: str | None = None


@dataclass(frozen=True)
class _File:
    url: str
    kind: str
    height: int
    bandwidth: int
    codecs: str

    @property
    def has_sound(self) -> bool:
        return any(name in self.codecs for name in _SOUND_CODECS)


@dataclass
class _Level:
    """An open element. Attributes and base address are handed down."""

    name: str
    base: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    has_file: bool = False
    in_segments: bool = False


def choose_streams(playlist: bytes, url: str) -> Streams:
    """The best picture of at most 1080 lines, and the best sound."""
    files = _Reader(url).read(playlist)
    pictures = [file for file in files if file.kind == "video"]
    if not pictures:
        raise UnsupportedPlaylistError("There is no picture in one file.")
    small = [file for file in pictures if file.height <= TALLEST]
    picture = max(small, key=_size) if small else min(pictures, key=_size)
    sounds = [file for file in files if file.kind == "audio"]
    sound = max(sounds, key=_size).url if sounds and not picture.has_sound else None
    return Streams(picture.url, sound)


def _size(file: _File) -> tuple[int, int]:
    return file.height, file.bandwidth


class _Reader:
    def __init__(self, url: str) -> None:
        self._levels = [_Level("", url)]
        self._files: list[_File] = []
        self._count = 0

    def read(self, playlist: bytes) -> Sequence[_File]:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._take_text
        parser.StartDoctypeDeclHandler = _refuse
        try:
            parser.Parse(playlist, True)
        except (expat.ExpatError, ValueError) as error:
            raise UnsupportedPlaylistError("The playlist cannot be read.") from error
        return self._files

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS:
            raise UnsupportedPlaylistError("The playlist is too long.")
        parent, name = self._levels[-1], tag.rpartition(":")[2]
        if name in _SEGMENTS:
            parent.in_segments = True
        inherited = {**parent.attributes, **attributes}
        self._levels.append(_Level(name, parent.base, inherited, in_segments=parent.in_segments))

    def _end(self, _: str) -> None:
        level = self._levels.pop()
        parent = self._levels[-1]
        if level.name == "BaseURL":
            parent.base = urljoin(parent.base, level.text.strip())
            parent.has_file = True
        if level.name == "Representation" and level.has_file and not level.in_segments:
            self._files.append(_file(level))

    def _take_text(self, text: str) -> None:
        if self._levels[-1].name == "BaseURL":
            self._levels[-1].text += text


def _file(level: _Level) -> _File:
    attributes = level.attributes
    kind = (attributes.get("mimeType") or attributes.get("contentType", "")).partition("/")[0]
    codecs = attributes.get("codecs", "")
    return _File(level.base, kind, _number(attributes, "height"), _number(attributes, "bandwidth"), codecs)


def _number(attributes: Mapping[str, str], name: str) -> int:
    text = attributes.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _refuse(*_: object) -> None:
    raise UnsupportedPlaylistError("The playlist declares entities.")
