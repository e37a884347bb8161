"""Playlists of DASH: which picture and which sound they name."""

import pytest

from pressbox.footy.adapters.downloads.dash import Streams, UnsupportedPlaylistError, choose_streams
from tests.shared_data import shared

URL = "https://v.redd.it/abc/DASHPlaylist.mpd?a=1&v=1"
OWN = b"""<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period>
<AdaptationSet contentType="video">
 <Representation bandwidth="9" height="2160" mimeType="video/mp4"><BaseURL>DASH_2160.mp4</BaseURL></Representation>
 <Representation bandwidth="5" height="720" mimeType="video/mp4"><BaseURL>DASH_720.mp4?k=1</BaseURL></Representation>
 <Representation bandwidth="3" height="480" mimeType="video/mp4"><BaseURL>DASH_480.mp4</BaseURL></Representation>
</AdaptationSet>
<AdaptationSet contentType="audio">
 <Representation bandwidth="64" mimeType="audio/mp4"><BaseURL>DASH_AUDIO_64.mp4</BaseURL></Representation>
 <Representation bandwidth="128" mimeType="audio/mp4"><BaseURL>DASH_AUDIO_128.mp4</BaseURL></Representation>
</AdaptationSet></Period></MPD>"""


def test_the_tallest_picture_up_to_1080_lines_and_the_best_sound_are_chosen() -> None:
    expected = Streams("https://v.redd.it/abc/DASH_720.mp4?k=1", "https://v.redd.it/abc/DASH_AUDIO_128.mp4")
    assert choose_streams(OWN, URL) == expected


def test_a_playlist_without_sound_says_so() -> None:
    silent = OWN[: OWN.index(b'<AdaptationSet contentType="audio">')] + b"</Period></MPD>"
    assert choose_streams(silent, URL).sound is None


def test_a_picture_that_holds_its_sound_needs_no_other() -> None:
    whole = OWN.replace(b'height="720"', b'height="720" codecs="avc1.4d401e,mp4a.40.2"')
    assert choose_streams(whole, URL).sound is None


def test_addresses_are_resolved_through_every_level() -> None:
    nested = OWN.replace(b"<Period>", b"<Period><BaseURL>//cdn.example.org/x/</BaseURL>")
    assert choose_streams(nested, URL).picture == "https://cdn.example.org/x/DASH_720.mp4?k=1"


@pytest.mark.parametrize(
    "playlist",
    [
        b"",
        b"<html><body>blocked</body></html>",
        b'{"error": 403}',
        b"<MPD></MPD>",
        OWN[: len(OWN) // 2],
        OWN.replace(b"<MPD", b'<!DOCTYPE MPD [<!ENTITY a "aaaa">]><MPD'),
        OWN.decode()
        .replace('encoding="utf-8"', "")
        .replace("<MPD", '<!DOCTYPE M [<!ENTITY a "b">]><MPD')
        .encode("utf-16"),
        b"<MPD>" + b"<a/>" * 6000 + b"</MPD>",
    ],
    ids=["empty", "page", "json", "bare", "half", "entities", "entities in another encoding", "endless"],
)
def test_what_cannot_be_read_is_left_to_others(playlist: bytes) -> None:
    with pytest.raises(UnsupportedPlaylistError):
        choose_streams(playlist, URL)


def test_recorded_playlists_are_read_or_left_to_others() -> None:
    folder = shared("providers/reddit/manifests")
    if folder is None:
        return
    # The only one of Reddit; the others have segments.
    streams = choose_streams((folder / "unfragmented.mpd").read_bytes(), URL)
    assert streams == Streams("https://v.redd.it/abc/DASH_360", "https://v.redd.it/abc/audio")
    for file in sorted(folder.glob("*.mpd")):
        content = file.read_bytes()
        if file.name != "unfragmented.mpd":
            with pytest.raises(UnsupportedPlaylistError):
                choose_streams(content, URL)
        with pytest.raises(UnsupportedPlaylistError):
            choose_streams(content[: len(content) // 2], URL)
