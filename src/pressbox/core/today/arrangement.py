"""The order of the sections on a person's first page, and which of them are hidden. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Step(StrEnum):
    """What somebody does with a section."""

    UP = "up"
    DOWN = "down"
    HIDE = "hide"
    SHOW = "show"


@dataclass(frozen=True)
class Arrangement:
    """All sections in order, and those of them that are hidden."""

    sections: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()

    def over(self, declared: Sequence[str]) -> "Arrangement":
        """The same over the sections that there are: a new one stands where it was declared, after its neighbour."""
        order = [key for key in self.sections if key in declared]
        for place, key in enumerate(declared):
            if key not in order:
                before = declared[place - 1] if place else None
                order.insert(order.index(before) + 1 if before in order else 0, key)
        return Arrangement(tuple(order), self.hidden & frozenset(declared))

    def take(self, key: str, step: Step) -> "Arrangement":
        """Move a section by one place, hide it or show it again. At an end, and for one unknown, nothing changes."""
        if key not in self.sections:
            return self
        if step is Step.HIDE:
            return replace(self, hidden=self.hidden | {key})
        if step is Step.SHOW:
            return replace(self, hidden=self.hidden - {key})
        order = list(self.sections)
        here = order.index(key)
        there = max(0, min(len(order) - 1, here + (-1 if step is Step.UP else 1)))
        order.insert(there, order.pop(here))
        return replace(self, sections=tuple(order))
