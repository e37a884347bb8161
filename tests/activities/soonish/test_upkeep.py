"""Owners hear of broken channels once; deleted events go."""

from dataclasses import replace

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import TransientError
from pressbox.delivery.ports import BrokenChannel
from pressbox.soonish.activities.upkeep import UpkeepActivities
from pressbox.soonish.contracts import SweepInput
from tests.fakes.soonish import FakeWorld

BROKEN = BrokenChannel(1, "Your channel has stopped", "410 Gone", (), "owner@example.org")


class Mailbox:
    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.away = False

    async def send(self, to: str, subject: str, body: str, headers: object) -> None:
        if self.away:
            raise TransientError("away")
        self.sent.append((to, subject))


@pytest.fixture
def world() -> FakeWorld:
    return FakeWorld()


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


async def sweep(world: FakeWorld, mailbox: Mailbox | None) -> int:
    upkeep = UpkeepActivities(world.events, world.broken, world.sender, mailbox, world.clock)
    return (await ActivityEnvironment().run(upkeep.tell_owners_of_broken_channels, SweepInput())).broken


async def test_an_owner_hears_once_over_the_other_channels(world: FakeWorld, mailbox: Mailbox) -> None:
    world.broken.unreported = [replace(BROKEN, other_channels=("channel:7", "channel:8"))]
    assert await sweep(world, mailbox) == 1
    assert await sweep(world, mailbox) == 0
    assert [len(world.sender.to(number)) for number in (7, 8)] == [1, 1]
    assert mailbox.sent == []


async def test_without_another_channel_a_mail_is_sent(world: FakeWorld, mailbox: Mailbox) -> None:
    world.broken.unreported = [BROKEN]
    assert await sweep(world, mailbox) == 1
    assert mailbox.sent == [("owner@example.org", "Your channel has stopped")]


async def test_a_mail_server_that_is_away_does_not_hold_up_the_others(world: FakeWorld, mailbox: Mailbox) -> None:
    mailbox.away = True
    world.broken.unreported = [BROKEN, BROKEN]
    assert await sweep(world, mailbox) == 2
    world.broken.unreported = [BROKEN]
    assert await sweep(world, None) == 1
