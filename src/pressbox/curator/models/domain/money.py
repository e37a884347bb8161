"""What tokens cost, how many a call will take, and when a new day of them begins."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Prices:
    """Per million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


def about_tokens(*texts: str) -> int:
    """About as many as a model counts: a budget needs numbers, also before a call, and where nobody counts."""
    return sum(len(text) for text in texts) // CHARACTERS_PER_TOKEN


def midnight_before(now: datetime) -> datetime:
    """When this day of tokens began, in UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def next_midnight(now: datetime) -> datetime:
    """When a new day of tokens begins, in UTC."""
    return midnight_before(now) + timedelta(days=1)
