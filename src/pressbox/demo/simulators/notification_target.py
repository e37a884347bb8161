"""A service that receives notifications: what an Apprise URL `json://…` points to.

Each path is a separate target; its name is what follows the first slash.
"""

import asyncio
import json
import sys

from pressbox.core.contracts import Contract
from pressbox.demo.simulators.http_service import Answer, HttpService, Request


class Received(Contract):
    """One message; `kind` is Apprise's word for its level."""

    key: str
    title: str
    body: str
    kind: str


class NotificationTarget(HttpService):
    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.received: list[Received] = []

    def apprise_url(self, name: str) -> str:
        return f"json://127.0.0.1:{self.port}/{name}"

    def of(self, name: str) -> list[Received]:
        return [item for item in self.received if item.key == name]

    async def read_last(self) -> str:
        return self.received[-1].body

    async def answer(self, request: Request) -> Answer:
        message = json.loads(request.body or b"{}")
        self.received.append(
            Received(
                key=self.key_of(request),
                title=str(message.get("title", "")),
                body=str(message.get("message", "")),
                kind=str(message.get("type", "")),
            )
        )
        return Answer()

    async def inspect(self, request: Request) -> Answer:
        key = request.first("key")
        return Answer.of([item.model_dump() for item in self.received if key is None or item.key == key])

    def forget(self) -> None:
        self.received.clear()


async def serve(port: int) -> None:
    """Serve until the process is ended; the port is printed on standard output."""
    async with NotificationTarget(port) as target:
        sys.stdout.write(f"{target.port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
