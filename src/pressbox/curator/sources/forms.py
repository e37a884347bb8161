"""What the forms of sources have in common: categories, intervals and rules as people type them."""

from collections.abc import Sequence
from datetime import timedelta

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.identity import Identity
from pressbox.curator.library.domain.feeds import ExtractionRule
from pressbox.curator.sources.domain import FeedSettings
from pressbox.curator.sources.service import SourceService

# A form that never ends would be a way to fill memory.
MOST_RULES = 20


async def category_of(sources: SourceService, identity: Identity, chosen: str, new: str) -> int | None:
    """The category that a form names: a new one by its name, one that exists by its id, or none."""
    if new.strip():
        return (await sources.create_category(identity.user_id, new)).id
    return number(chosen, "category") if chosen.strip() else None


def settings_of(
    full_text: str, minutes: str, limit: str, kinds: Sequence[str], keeps: Sequence[str], expressions: Sequence[str]
) -> FeedSettings:
    between = number(minutes, "interval") if minutes.strip() else None
    return FeedSettings(
        full_text=full_text == "yes",
        rules=tuple(rules_of(kinds, keeps, expressions)),
        interval=timedelta(minutes=between) if between is not None else None,
        entry_limit=number(limit, "entry_limit") if limit.strip() else None,
    )


def rules_of(kinds: Sequence[str], keeps: Sequence[str], expressions: Sequence[str]) -> Sequence[ExtractionRule]:
    """Lines without an expression are lines that nobody filled in."""
    lines = zip(kinds, keeps, expressions, strict=False)
    rules = [ExtractionRule(kind, expression.strip(), keep == "keep") for kind, keep, expression in lines]
    return [rule for rule in rules if rule.expression][:MOST_RULES]


def number(text: str, field: str) -> int:
    stripped = text.strip()
    if not stripped.isascii() or not stripped.isdigit() or len(stripped) > 18:
        raise InvalidInputError("Write a whole number.", field=field)
    return int(stripped)
