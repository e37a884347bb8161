"""The simulated outside world of the demo: on loopback, in the process that plays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.embedded.ports import free_port


@dataclass(frozen=True)
class WorldPorts:
    """Chosen before anything starts: the instance must be told of them."""

    notifications: int
    mail: int
    mailbox: int

    @classmethod
    def choose(cls) -> "WorldPorts":
        return cls(free_port(), free_port(), free_port())

    def environment(self) -> dict[str, str]:
        """Settings with which an instance lives in this world and in no other."""
        return {
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
