"""Posts of the simulated social site, and its search."""

import re
from collections.abc import Iterable, Sequence

from pydantic import AwareDatetime

from pressbox.core.contracts import Contract

_GROUP = re.compile(r"\(([^)]*)\)|\"([^\"]*)\"|(\S+)")
_TERM = re.compile(r"\"([^\"]*)\"|(\S+)")


class SocialPost(Contract):
    """A post with one video. `id` consists of digits, like those of X."""

    id: str
    text: str
    posted_at: AwareDatetime
    duration_seconds: float
    author: str = "footballfan"
    subreddit: str = "soccer"


def search_posts(posts: Iterable[SocialPost], query: str) -> list[SocialPost]:
    """Search as X does: every word and one of each group of alternatives must be there; newest first."""
    groups = [_alternatives(*found) for found in _GROUP.findall(query)]
    wanted = [group for group in groups if group]
    found = [post for post in posts if all(any(_contains(post.text, term) for term in group) for group in wanted)]
    return sorted(found, key=lambda post: post.posted_at, reverse=True)


def _alternatives(inside: str, quoted: str, word: str) -> Sequence[str]:
    if inside:
        return [quoted or plain for quoted, plain in _TERM.findall(inside) if plain != "OR"]
    # Operators such as has:videos match every post here.
    return [quoted or word] if quoted or ":" not in word else []


def _contains(text: str, term: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE) is not None
