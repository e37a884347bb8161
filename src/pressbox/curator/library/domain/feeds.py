"""What feeds and their entries share everywhere: the outcome of a crawl, enclosures, extraction rules. Pure types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import ConfigDict, Field


class CrawlOutcome(StrEnum):
    """What one crawl came to. Everything but NEW and UNCHANGED is a failure with a reason for people."""

    NEW = "new"  # read, with or without new entries
    UNCHANGED = "unchanged"  # 304, or the very same bytes
    GONE = "gone"  # 410: not crawled again until somebody asks for it
    RATE_LIMITED = "rate limited"
    REFUSED = "refused"  # 401, 403, a login page
    NOT_FOUND = "not found"
    SERVER_ERROR = "server error"
    NOT_A_FEED = "not a feed"
    TOO_LARGE = "too large"
    REFUSED_ADDRESS = "refused address"
    UNREACHABLE = "unreachable"

    @property
    def failed(self) -> bool:
        return self not in (CrawlOutcome.NEW, CrawlOutcome.UNCHANGED)


# The reason that a feed shows which its readers have left for its new address.
MOVED = "This feed has moved; you read it at its new address now. What you have not read or have kept stays here."


@dataclass(frozen=True)
class Enclosure:
    url: str
    type: str
    length: int | None


@dataclass(frozen=True)
class ExtractionRule:
    """How the article is found on a page of this feed; what the expression finds is kept or removed."""

    # The API documents that a rule has no other fields.
    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Annotated[str, Field(json_schema_extra={"enum": ["css", "xpath"]})]
    expression: str
    keep: bool


@dataclass(frozen=True)
class OutlineProblem:
    """An outline of an OPML file that could not be used: its line, its name, and why."""

    line: int
    title: str
    reason: str

    def __str__(self) -> str:
        name = f" ({self.title})" if self.title else ""
        return f"Line {self.line}{name}: {self.reason}"


def load_rules(stored: Sequence[Mapping[str, Any]]) -> tuple[ExtractionRule, ...]:
    """Read the rules of a feed as its row holds them."""
    return tuple(ExtractionRule(rule["kind"], rule["expression"], rule["keep"]) for rule in stored)
