"""What cards of software need: a place to look for repositories, and somebody who tells which one is meant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pressbox.curator.cards.domain.repositories import Repository


class Repositories(Protocol):
    """Trouble of the other side is a TransientError, with the time to come back when it says one."""

    async def search(self, words: str, limit: int) -> Sequence[Repository]: ...

    async def get(self, full_name: str) -> Repository | None:
        """None when there is none of this name."""
        ...

    async def readme(self, repository: Repository) -> str:
        """Sanitised HTML; empty when there is none."""
        ...


@dataclass(frozen=True)
class Chosen:
    """`repository` is None for "none of these"; `by` says who chose: a model by its name, or rules."""

    repository: Repository | None
    by: str


class RepositoryChooser(Protocol):
    """Which of the repositories is the software that the text speaks of; none of them is an answer too."""

    async def choose(
        self, name: str, found: Sequence[Repository], text: str, entry_id: int, feed_id: int
    ) -> Chosen: ...
