"""Selects posts that match a search, for sources that cannot search so precisely themselves."""

from collections.abc import Iterable
from datetime import datetime

from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.names import mentions
from pressbox.footy.domain.posts import merge_same_posts, post_key
from pressbox.footy.ports.outside import SearchRequest


def select_matching(found: Iterable[FoundVideo], request: SearchRequest, now: datetime) -> tuple[FoundVideo, ...]:
    """Select new posts that mention player and team, the newest first."""
    known = {post_key(url) for url in request.exclude_urls}
    fitting = [
        video
        for video in found
        if not known & {post_key(url) for url in (video.video_page_url, video.post_url, video.media_url) if url}
        and (video.posted_at is None or video.posted_at >= now - request.max_age)
        and mentions(video.post_text, request.player_names, request.team_aliases)
    ]
    newest = sorted(fitting, key=lambda video: video.posted_at or now, reverse=True)
    return tuple(merge_same_posts(newest)[: request.max_results])
