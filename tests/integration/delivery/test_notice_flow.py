"""From a published goal to a mailbox, a chat and a browser: real workflow, real senders, simulated services."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import pytest
from pydantic import SecretStr
from temporalio.client import Client
from temporalio.worker import Worker

from pressbox.core.accounts.limits import RateLimits
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings
from pressbox.core.http.client import GuardedClient
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import withdraw
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.delivery.adapters.routing_sender import build_apprise_sender, build_sender
from pressbox.delivery.adapters.send_lanes import SendLanes, SqlLaneStore
from pressbox.delivery.domain.channels import ChannelInput
from pressbox.delivery.ids import QUEUE
from pressbox.delivery.manifest import APP
from pressbox.delivery.push.store import PushStore
from pressbox.delivery.push.subscription import check_target
from pressbox.delivery.service.channels import ChannelService
from pressbox.delivery.service.looking import keep_looking
from pressbox.delivery.service.ways import NoticeWays
from pressbox.delivery.settings import SmtpSecurity
from pressbox.delivery.wiring import vault
from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.demo.simulators.push_service import PushService
from pressbox.soonish.settings import SoonishSettings
from tests.fakes.notices import GOAL, TEAM, tell
from tests.site import PASSWORD, cheap_passwords
from tests.waiting import until

TITLE = "Goal for Liverpool by Salah, 23′"
CLIP = replace(GOAL, detail="Liverpool 1–0 Arsenal. The clip is there.", picture="/footy/clips/x.jpg")


@dataclass
class Outside:
    """Ada's mailbox, chat and browser, and her account."""

    resources: Resources
    mail: MailSink
    chat: NotificationTarget
    push: PushService
    ada: int

    def arrived(self) -> tuple[list[str], list[str], list[str]]:
        mails = [mail.subject for mail in self.mail.received]
        pushed = [str(content["title"]) for content in self.push.of("ada")]
        return mails, [message.title for message in self.chat.of("ada")], pushed


@pytest.fixture
async def outside(resources: Resources, temporal: Client) -> AsyncIterator[Outside]:
    async with AsyncExitStack() as exits:
        mail = await exits.enter_async_context(MailSink())
        chat = await exits.enter_async_context(NotificationTarget())
        push = await exits.enter_async_context(PushService())
        http = HttpSettings(allow=(f"127.0.0.1:{chat.port}", f"127.0.0.1:{push.port}"))
        sending = SoonishSettings(
            smtp_host="127.0.0.1",
            smtp_port=mail.smtp_port,
            smtp_from="pressbox@example.org",
            smtp_security=SmtpSecurity.NONE,
        )
        settings = resources.settings.model_copy(update={"secret_key": SecretStr("for tests"), "http": http})
        settings = settings.with_group(sending)
        client = await exits.enter_async_context(GuardedClient(http))
        connected = replace(resources, settings=settings, http=client)
        ada = await prepare_ada(connected, chat, push)
        async with Worker(
            temporal,
            task_queue=QUEUE,
            workflows=APP.workflows()[QUEUE],
            activities=APP.activities(connected)[QUEUE],
            interceptors=[ErrorInterceptor()],
        ):
            looking = asyncio.create_task(keep_looking(connected, vault(connected.settings).reveal))
            yield Outside(connected, mail, chat, push, ada)
            looking.cancel()


async def prepare_ada(resources: Resources, chat: NotificationTarget, push: PushService) -> int:
    """She follows Liverpool, reads German, and has a chat, a browser and mail."""
    database, settings = resources.database, resources.settings
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    ada = (await accounts.add_user("ada@example.org", PASSWORD)).id
    await PersonalFollows(database).follow(ada, TEAM, "Liverpool", "/footy")
    sealing = vault(settings)
    apprise = build_apprise_sender(settings, SendLanes(SqlLaneStore(database)))
    sender = build_sender(settings, database, sealing.reveal, apprise)
    channels = ChannelService(database, sealing, apprise, sender, RateLimits(database))
    channel = await channels.add(ada, ChannelInput("Chat", chat.apprise_url("ada")))
    said = push.add_browser("ada").subscription()
    target = check_target(said["endpoint"], said["keys"]["p256dh"], said["keys"]["auth"])
    await PushStore(database, settings).subscribe(ada, target, name="Phone", language="en")
    ways = NoticeWays(database, sends_mail=True)
    assert [(way.kind, way.chosen) for way in await ways.list(ada)] == [("email", False), ("JSON", False)]
    await ways.choose(ada, [f"account:{ada}", f"channel:{channel.id}"])
    return ada


@pytest.mark.slow
async def test_a_goal_its_clip_and_the_referee_reach_every_way_once(outside: Outside) -> None:
    database = outside.resources.database
    await tell(database, GOAL)
    await until(lambda: outside.arrived() == ([TITLE], [TITLE], [TITLE]))
    assert outside.mail.received[0].recipient == "ada@example.org"
    assert "/follows" in outside.mail.received[0].body
    assert "Liverpool 1–0 Arsenal" in outside.chat.of("ada")[0].body
    await tell(database, CLIP)
    await until(lambda: outside.arrived() == ([TITLE], [TITLE], [TITLE, TITLE]))
    assert len({content["tag"] for content in outside.push.of("ada")}) == 1, "the clip takes the goal's place"
    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    gone = f"Taken back: {TITLE}"
    await until(lambda: outside.arrived() == ([TITLE, gone], [TITLE, gone], [TITLE, TITLE, gone]))


@pytest.mark.slow
async def test_who_reads_german_is_written_to_in_german(outside: Outside) -> None:
    accounts = AccountService(outside.resources.database, outside.resources.settings, passwords=cheap_passwords())
    await accounts.set_language(outside.ada, "de")
    await tell(outside.resources.database, GOAL)
    await until(lambda: all(outside.arrived()))
    assert outside.arrived()[0] == ["Tor für Liverpool: Salah, 23′"]
