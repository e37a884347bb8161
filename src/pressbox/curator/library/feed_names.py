"""What a feed is called in a query: as the person calls it, else as it calls itself, else by its host."""

from typing import Any

from sqlalchemy import ColumnElement, func

from pressbox.curator.library.rows import FeedRow

# The same host as `urls.site_name` gives. Never the whole address: it may hold what opens the feed.
_HOST = r"^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?(?:www\.)?([^/?#:@]+)"


def feed_name(own_title: Any = None) -> ColumnElement[str]:
    titles = [FeedRow.title] if own_title is None else [own_title, FeedRow.title]
    return func.coalesce(*(func.nullif(title, "") for title in titles), func.substring(FeedRow.url, _HOST), "")
