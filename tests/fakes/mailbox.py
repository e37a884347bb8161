"""Mail of the instance that ends in a list."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Letter:
    to: str
    subject: str
    body: str

    @property
    def link(self) -> str:
        """The path of the one link in it."""
        (found,) = re.findall(r"http://localhost:8030(/\S+)", self.body)
        return str(found)


@dataclass
class Mailbox:
    letters: list[Letter] = field(default_factory=list)

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> None:
        self.letters.append(Letter(to, subject, body))
