"""What a digest says in a mailbox, in the language of its reader, without an address that leads nowhere."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import time, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import WebSettings
from pressbox.delivery.contracts import SendPageInput
from pressbox.delivery.ids import QUEUE
from pressbox.delivery.manifest import APP
from pressbox.delivery.service.ways import NoticeWays
from pressbox.delivery.settings import SmtpSecurity
from pressbox.demo.simulators.mail_sink import Mail, MailSink
from pressbox.digest.domain import Choice, Rhythm
from pressbox.digest.service import DigestDesk
from pressbox.digest.store import DigestStore
from pressbox.entry.manifests import APPLICATIONS
from pressbox.soonish.settings import SoonishSettings
from tests.fakes.reader import Library
from tests.site import PASSWORD, cheap_passwords

HOME = "https://pressbox.example"
STORY = "The ferry to the outer islands"


@pytest.fixture
async def mailbox() -> AsyncIterator[MailSink]:
    async with MailSink() as sink:
        yield sink


@pytest.fixture
def instance(resources: Resources, mailbox: MailSink) -> Resources:
    sending = SoonishSettings(
        smtp_host="127.0.0.1",
        smtp_port=mailbox.smtp_port,
        smtp_from="pressbox@example.org",
        smtp_security=SmtpSecurity.NONE,
    )
    settings = resources.settings.model_copy(update={"web": WebSettings(public_url=HOME)}).with_group(sending)
    return replace(resources, settings=settings, manifests=APPLICATIONS)


async def send_one(instance: Resources, mailbox: MailSink, language: str) -> Mail:
    """A person with one new story, whose digest is due, and who gets it by mail."""
    database, now = instance.database, utc_now()
    accounts = AccountService(database, instance.settings, passwords=cheap_passwords())
    ada = (await accounts.add_user("ada@example.org", PASSWORD)).id
    await accounts.set_language(ada, language)
    await NoticeWays(database, sends_mail=True).choose(ada, [f"account:{ada}"])
    library = Library(instance)
    seen = now - timedelta(hours=2)
    feed = await library.feed(ada, title="The Harbour")
    await library.entry(feed, STORY, at=seen, seen=seen, summary="It leaves at six. Take a coat.")
    await DigestStore(database).save(ada, Choice(Rhythm.DAILY, time(7, 30), "Europe/Berlin"), now - timedelta(hours=25))
    assert (await DigestDesk(instance).send_page("worker", 10)).sent == 1
    methods = {method.__name__: method for method in APP.activities(instance)[QUEUE]}
    await ActivityEnvironment().run(methods["send_notices"], SendPageInput(at_once=4, page=10))
    [mail] = mailbox.to("ada@example.org")
    return mail


@pytest.mark.parametrize(
    ("language", "subject", "heading", "why", "footer"),
    [
        ("en", "Your daily digest is here.", "Stories that mattered", "New in your sources.", "Change where this goes"),
        ("de", "Dein täglicher Digest ist da.", "Was wichtig war", "Neu in deinen Quellen.", "Ändern, wohin das geht"),
    ],
    ids=["english", "german"],
)
async def test_the_mail_has_all_of_the_digest_in_the_language_of_its_reader(
    instance: Resources, mailbox: MailSink, language: str, subject: str, heading: str, why: str, footer: str
) -> None:
    mail = await send_one(instance, mailbox, language)
    assert mail.subject == subject
    lines = mail.body.splitlines()
    assert heading in lines
    assert lines[lines.index(heading) + 1] == "=" * len(heading)
    story = lines.index(STORY)
    assert lines[story + 1].endswith(why)
    assert lines[story + 1].startswith("The Harbour: It leaves at six.")
    assert re.fullmatch(rf"{HOME}/reader/entries/\d+", lines[story + 2])
    assert footer in mail.body
    assert mail.headers["Content-Type"].startswith("text/plain")
    addresses = re.findall(r"https?://\S+", mail.body)
    assert addresses
    assert all(address.startswith(f"{HOME}/") for address in addresses)
