"""Whether the search index on disk is the one that the database knows."""

from dataclasses import dataclass
from enum import StrEnum

from pressbox.core.errors import TransientError


class DamagedIndexError(TransientError):
    """What is on disk cannot be read as an index of this version."""


class IndexCondition(StrEnum):
    EMPTY = "empty"
    GOOD = "good"
    # It is being rebuilt and searched meanwhile.
    INCOMPLETE = "incomplete"
    MISSING = "missing"
    # Of another database, or older or newer than what the database knows: one of the two was restored or replaced.
    FOREIGN = "foreign"

    @property
    def usable(self) -> bool:
        return self in (IndexCondition.EMPTY, IndexCondition.GOOD, IndexCondition.INCOMPLETE)


@dataclass(frozen=True)
class KnownIndex:
    """The index as the database knows it. `generation` is empty when an index is known to exist, but not which."""

    generation: str
    commit_number: int
    # A write had begun and its end was not recorded.
    writing: bool
    complete: bool


@dataclass(frozen=True)
class FoundIndex:
    """The index on disk: its generation, and the number of its last commit, which only grows."""

    generation: str
    commit_number: int


def compare_generations(known: KnownIndex | None, found: FoundIndex | None) -> IndexCondition:
    """Compare as a reader does, for whom the writer may be a commit ahead."""
    if known is None:
        # Ids of another database would show its articles under the names of ours.
        return IndexCondition.EMPTY if found is None else IndexCondition.FOREIGN
    if found is None:
        return IndexCondition.MISSING
    if known.generation not in ("", found.generation):
        return IndexCondition.FOREIGN
    return IndexCondition.GOOD if known.complete else IndexCondition.INCOMPLETE


def compare_commits(known: KnownIndex | None, found: FoundIndex | None) -> IndexCondition:
    """Compare as the only writer does, who knows which commit was the last."""
    condition = compare_generations(known, found)
    if known is None or found is None or not condition.usable or not known.generation:
        return condition
    is_expected = found.commit_number == known.commit_number or (
        known.writing and found.commit_number > known.commit_number
    )
    return condition if is_expected else IndexCondition.FOREIGN
