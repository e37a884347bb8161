"""What of the reader can be followed. Pure."""

from enum import StrEnum
from hashlib import sha256
from urllib.parse import urlencode

from pressbox.curator.names import PATH

APPLICATION = "curator"
# A search has no id: it is its words, whoever follows it, and the follow is called by them.
SEARCH = f"{APPLICATION}.search."


class FollowedKind(StrEnum):
    """What has an id and can be followed. Of a story, pages and programs know the ids of its entries."""

    STORY = "story"
    LABEL = "label"
    CATEGORY = "category"
    FEED = "feed"

    @property
    def prefix(self) -> str:
        return f"{APPLICATION}.{self}."

    def subject(self, number: int) -> str:
        return f"{self.prefix}{number}"

    def path(self, number: int) -> str:
        """Where the list of it is. A story has none: it is the article from which it was followed."""
        return f"{PATH}?list={self}&id={number}"

    def number(self, subject: str) -> int | None:
        """The id in a subject of this kind; of another kind none."""
        return int(subject.removeprefix(self.prefix)) if subject.startswith(self.prefix) else None


def entry_path(entry_id: int) -> str:
    return f"{PATH}/entries/{entry_id}"


def search_words(query: str) -> str:
    return " ".join(query.split())


def search_subject(query: str) -> str:
    """The same words, with blanks as one likes, are the same search."""
    return f"{SEARCH}{sha256(search_words(query).encode()).hexdigest()[:24]}"


def search_path(query: str) -> str:
    return f"{PATH}?{urlencode({'list': 'all', 'q': search_words(query)})}"
