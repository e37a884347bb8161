"""A list of subscriptions as people carry it from one reader to another. Pure types."""

from dataclasses import dataclass

# Nested folders become one category, named by the whole way to it; writing takes it apart again.
NESTING = " / "


@dataclass(frozen=True)
class OutlineFeed:
    """One subscription. `category` is empty, a name, or a way of names joined by NESTING."""

    url: str
    title: str = ""
    site_url: str = ""
    category: str = ""


@dataclass(frozen=True)
class OutlineProblem:
    """What could not be used: where, what it was called, and why."""

    line: int
    title: str
    reason: str

    def __str__(self) -> str:
        name = f" ({self.title})" if self.title else ""
        return f"Line {self.line}{name}: {self.reason}"


@dataclass(frozen=True)
class OutlineList:
    """In the order of the file. The same address in two categories is listed twice; `problems` stopped nothing else."""

    title: str = ""
    feeds: tuple[OutlineFeed, ...] = ()
    problems: tuple[OutlineProblem, ...] = ()
