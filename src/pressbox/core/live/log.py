"""The newest change of each thing, in memory: what a browser missed is found without asking the database."""

from collections.abc import Iterable, Sequence

from pressbox.core.live.messages import Change, Wish

# Things that are remembered; a few megabytes.
LONGEST_LOG = 20_000


class ChangeLog:
    """Knows every change after `floor` up to `newest`, the last one of each thing only."""

    def __init__(self, floor: int, longest: int = LONGEST_LOG) -> None:
        self.floor = floor
        self.newest = floor
        self._longest = longest
        # In the order of their numbers, since a thing that changes again goes to the end.
        self._numbers: dict[tuple[str, str], int] = {}

    def append(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if change.id <= self.newest:
                continue
            self._numbers.pop((change.kind, change.key), None)
            self._numbers[change.kind, change.key] = self.newest = change.id
            if len(self._numbers) > self._longest:
                self.floor = self._numbers.pop(next(iter(self._numbers)))

    def since(self, after: int, wish: Wish, limit: int) -> Sequence[Change] | None:
        """What a listener missed, the oldest first. None: too long ago, or too much."""
        if not self.floor <= after <= self.newest:
            return None
        missed: list[Change] = []
        for (kind, key), number in reversed(self._numbers.items()):
            if number <= after:
                break
            if wish.matches(kind, key):
                missed.append(Change(number, kind, key))
                if len(missed) > limit:
                    return None
        return missed[::-1]
