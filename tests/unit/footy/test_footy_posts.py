"""One post under many addresses is one post."""

import pytest

from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.posts import merge_same_posts, post_key

SAME = [
    (
        "https://x.com/i/status/1/video/1",
        "https://x.com/fan/status/1/video/1",
        "https://x.com/fan/status/1",
        "https://twitter.com/fan/status/1?s=20",
        "https://mobile.twitter.com/fan/status/1",
        "http://www.twitter.com/fan/statuses/1",
        "https://fxtwitter.com/fan/status/1",
        "https://d.fxtwitter.com/fan/status/1",
        "https://vxtwitter.com/fan/status/1",
        "https://fixupx.com/fan/status/1",
        "https://x.com/i/web/status/1",
    ),
    (
        "https://bsky.app/profile/did:plc:abc/post/3kxyz",
        "https://bsky.app/profile/fan.bsky.social/post/3kxyz",
        "https://fxbsky.app/profile/fan.bsky.social/post/3kxyz?ref=a",
    ),
    (
        "https://www.reddit.com/r/soccer/comments/1abc23/salah_goal/",
        "https://old.reddit.com/r/soccer/comments/1abc23",
        "https://redd.it/1abc23",
        "https://reddit.com/comments/1abc23/?utm_source=share",
    ),
    ("https://streamable.com/abc", "https://www.streamable.com/abc/", "http://streamable.com/abc#t=3"),
]


@pytest.mark.parametrize("urls", SAME)
def test_all_addresses_of_a_post_are_one(urls: tuple[str, ...]) -> None:
    assert len({post_key(url) for url in urls}) == 1
    found = merge_same_posts(FoundVideo("x", url) for url in urls)
    assert [video.video_page_url for video in found] == [urls[0]]
    assert merge_same_posts([FoundVideo("x", urls[0])], urls[1:]) == []


def test_other_posts_and_other_videos_of_a_post_are_others() -> None:
    urls = [
        "https://x.com/fan/status/1/video/1",
        "https://x.com/fan/status/1/video/2",
        "https://x.com/fan/status/12",
        "https://example.org/fan/status/1",
        "https://v.redd.it/1abc23",
        "https://redd.it/1abc23",
        "https://clips.example.org/watch?v=1",
        "https://clips.example.org/watch?v=2",
    ]
    assert len({post_key(url) for url in urls}) == len(urls)


def test_what_one_source_does_not_tell_comes_from_the_other() -> None:
    browser = FoundVideo("x-browser", "https://x.com/fan/status/1/video/1", post_text="Goal!")
    official = FoundVideo(
        "x-api", "https://x.com/i/status/1/video/1", media_url="https://v.example/1.mp4", duration_seconds=9.0
    )
    (merged,) = merge_same_posts([browser, official])
    assert (merged.source, merged.media_url, merged.duration_seconds) == ("x-browser", "https://v.example/1.mp4", 9.0)
