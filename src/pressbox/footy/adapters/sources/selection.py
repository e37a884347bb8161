"""Selects posts that match a search, for sources that cannot search so precisely themselves."""

from collections.abc import Iterable
from datetime import datetime

from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.names import mentions
from pressbox.footy.ports.outside import SearchRequest


def select_matching(found: Iterable[FoundVideo], request: SearchRequest, now: datetime) -> tuple[FoundVideo, ...]:
    """Select new posts that mention player and team, the newest first."""
    fitting = [
        video
        for video in found
        if not request.exclude_urls & {video.video_page_url, video.post_url, video.media_url or ""}
        and (video.posted_at is None or video.posted_at >= now - request.max_age)
        and mentions(video.post_text, request.player_names, request.team_aliases)
    ]
    newest = sorted(fitting, key=lambda video: video.posted_at or now, reverse=True)
    once = {video.video_page_url: video for video in reversed(newest)}
    return tuple(video for video in newest if once.get(video.video_page_url) is video)[: request.max_results]
