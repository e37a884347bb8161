"""The simulated outside world of the demo: on loopback, in the process that plays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.embedded.ports import free_port

# How long edits are gathered into one message: shorter than in earnest, so that somebody can watch.
MERGE_SECONDS = 6.0


@dataclass(frozen=True)
class WorldPorts:
    """Chosen before anything starts: the instance must be told of them."""

    notifications: int
    mail: int
    mailbox: int

    @classmethod
    def choose(cls) -> "WorldPorts":
        return cls(free_port(), free_port(), free_port())

    def environment(self, speed: float = 1.0) -> dict[str, str]:
        """Settings with which an instance lives in this world and in no other."""
        return {
            "PRESSBOX_SOONISH_MERGE_WINDOW_SECONDS": f"{MERGE_SECONDS / speed:g}",
            "PRESSBOX_HTTP_ALLOW": f"127.0.0.1:{self.notifications}",
            "PRESSBOX_SOONISH_SMTP_HOST": "127.0.0.1",
            "PRESSBOX_SOONISH_SMTP_PORT": str(self.mail),
            "PRESSBOX_SOONISH_SMTP_SECURITY": "none",
            "PRESSBOX_SOONISH_SMTP_USER": "",
            "PRESSBOX_SOONISH_SMTP_FROM": "Pressbox demo <demo@example.org>",
            "PRESSBOX_SOONISH_APPRISE_API_URL": "",
        }


@dataclass(frozen=True)
class World:
    notifications: NotificationTarget
    mail: MailSink


@asynccontextmanager
async def open_world(ports: WorldPorts) -> AsyncIterator[World]:
    async with (
        NotificationTarget(ports.notifications) as notifications,
        MailSink(ports.mailbox, ports.mail) as mail,
    ):
        yield World(notifications, mail)
