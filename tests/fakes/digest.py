"""A desk that writes digests for the workflow alone: pages of a list, some of which fail."""

from collections.abc import Iterable

from pressbox.core.errors import TransientError
from pressbox.digest.contracts import DigestPage


class FakeDesk:
    """Gives these pages one after another, then empty ones. The first `failures` calls find no database."""

    def __init__(self, pages: Iterable[DigestPage], failures: int = 0) -> None:
        self._pages = list(pages)
        self._failures = failures
        self.owners: list[str] = []

    async def send_page(self, owner: str, limit: int) -> DigestPage:
        self.owners.append(owner)
        if len(self.owners) <= self._failures:
            raise TransientError("The database does not answer.")
        return self._pages.pop(0) if self._pages else DigestPage()
