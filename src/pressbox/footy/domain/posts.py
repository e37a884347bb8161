"""Which addresses are the same post: a post has many, and one that is found twice is one candidate. Pure."""

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

from pressbox.footy.domain.candidates import FoundVideo

# X itself, its older name, and the mirrors under which fans share its posts.
_X_HOSTS = frozenset(
    {"x.com", "twitter.com", "fxtwitter.com", "vxtwitter.com", "fixupx.com", "fixvx.com", "twittpr.com", "nitter.net"}
)
_BLUESKY_HOSTS = frozenset({"bsky.app", "fxbsky.app", "bskyx.app", "bsyy.app"})
_SUBDOMAINS = ("www.", "mobile.", "m.", "old.", "new.", "np.", "amp.", "d.")
_X_POST = re.compile(r"/(?:[^/]+|i/web)/status(?:es)?/(\d+)(?:/video/(\d+))?")
_BLUESKY_POST = re.compile(r"/profile/[^/]+/post/([A-Za-z0-9]+)")
_REDDIT_POST = re.compile(r"/(?:r/[^/]+/|u(?:ser)?/[^/]+/)?comments/([a-z0-9]+)")
# Parameters that say who shared an address, and not what it shows.
_SHARING = re.compile(r"utm_\w+|fbclid|gclid|igshid|si|s|t|ref|ref_src|ref_url|share_id|feature")


def post_key(url: str) -> str:
    """The same text for all addresses of one post, or of one video of a post with several."""
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").lower().rstrip(".")
    for prefix in _SUBDOMAINS:
        host = host.removeprefix(prefix)
    key = _network_key(host, parts.path)
    if key:
        return key
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if not _SHARING.fullmatch(name)])
    return f"{host}{parts.path.rstrip('/')}{'?' if query else ''}{query}"


def _network_key(host: str, path: str) -> str:
    if host in _X_HOSTS and (post := _X_POST.match(path)):
        return f"x {post[1]} {int(post[2] or 1)}"
    if host in _BLUESKY_HOSTS and (post := _BLUESKY_POST.match(path)):
        return f"bluesky {post[1]}"
    if host == "reddit.com" and (post := _REDDIT_POST.match(path)):
        return f"reddit {post[1]}"
    if host == "redd.it":
        return f"reddit {path.strip('/')}"
    return ""


def merge_same_posts(videos: Iterable[FoundVideo], known: Iterable[str] = ()) -> list[FoundVideo]:
    """One video for each post, in the order found, without those at `known` addresses.

    What one source does not tell, such as the length or the address of the file, is taken from another.
    """
    known_keys = {post_key(url) for url in known}
    merged: dict[str, FoundVideo] = {}
    for video in videos:
        key = post_key(video.video_page_url)
        if key in known_keys:
            continue
        first = merged.setdefault(key, video)
        merged[key] = replace(
            first,
            media_url=first.media_url or video.media_url,
            duration_seconds=first.duration_seconds or video.duration_seconds,
            posted_at=first.posted_at or video.posted_at,
            post_text=first.post_text or video.post_text,
        )
    return list(merged.values())
