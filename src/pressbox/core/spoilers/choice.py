"""What a person wants to know of scores, and up to which moment they may know of a match. Pure."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from pressbox.core.errors import InvalidInputError

SHORTEST_DELAY, LONGEST_DELAY = 1, 180
# What somebody may know who may know all of it, and who may know nothing of it.
ALWAYS = datetime.max.replace(tzinfo=UTC)
NEVER = datetime.min.replace(tzinfo=UTC)


class SpoilerMode(StrEnum):
    OFF = "off"
    HIDDEN = "hidden"
    DELAY = "delay"


@dataclass(frozen=True)
class SpoilerChoice:
    """`minutes` belong to a delay alone."""

    mode: SpoilerMode = SpoilerMode.OFF
    minutes: int | None = None


def choose(mode: str, minutes: int | None = None) -> SpoilerChoice:
    """The choice that these words make, or what is wrong with them."""
    if mode not in set(SpoilerMode):
        raise InvalidInputError("Choose off, hidden or delay.", field="spoiler_mode")
    if mode != SpoilerMode.DELAY:
        return SpoilerChoice(SpoilerMode(mode))
    if minutes is None or not SHORTEST_DELAY <= minutes <= LONGEST_DELAY:
        text = f"A delay is a whole number of minutes between {SHORTEST_DELAY} and {LONGEST_DELAY}."
        raise InvalidInputError(text, field="spoiler_minutes")
    return SpoilerChoice(SpoilerMode.DELAY, minutes)


@dataclass(frozen=True)
class Sight:
    """What one person may know at this moment. Whoever is nobody in particular sees everything."""

    now: datetime
    choice: SpoilerChoice = field(default_factory=SpoilerChoice)
    revealed: frozenset[str] = frozenset()

    @property
    def unlimited(self) -> bool:
        return self.choice.mode is SpoilerMode.OFF

    @property
    def delayed(self) -> bool:
        return self.choice.mode is SpoilerMode.DELAY

    def known_until(self, subject: str) -> datetime:
        """What became known of the subject up to this moment may be shown, and nothing that came later."""
        if self.unlimited or subject in self.revealed:
            return ALWAYS
        if self.choice.mode is SpoilerMode.HIDDEN:
            return NEVER
        return self.now - timedelta(minutes=self.choice.minutes or 0)

    def hides(self, subject: str) -> bool:
        """Whether nothing of it may be shown until the person looks."""
        return self.known_until(subject) == NEVER


# For whoever is nobody in particular, and for those who run the instance at its command line.
SEES_ALL = Sight(ALWAYS)
