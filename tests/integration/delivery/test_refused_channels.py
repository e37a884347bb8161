"""Channels that an older version took and this one refuses: found at the start, said once, counted until changed."""

import secrets
from dataclasses import replace

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.health import HealthState
from pressbox.delivery.adapters.broken_channels import SqlBrokenChannels
from pressbox.delivery.adapters.refused_channels import RefusedChannels
from pressbox.delivery.adapters.rows import ChannelRow
from pressbox.delivery.domain.targets import OWN_MAIL
from pressbox.delivery.manifest import APP
from pressbox.delivery.service.looking import mark_refused_channels
from pressbox.delivery.wiring import vault

MAILTO = "mailto://user:s3cr3t@example.org?to=ada@example.org"


@pytest.fixture
def instance(resources: Resources) -> Resources:
    return replace(resources, settings=resources.settings.model_copy(update={"secret_key": SecretStr("for tests")}))


async def add_channel(instance: Resources, url: str, *, kind: str = "Email", language: str = "en") -> int:
    """As an older version wrote it, without asking today's rules."""
    sealed = vault(instance.settings).seal(url, kind, kind)
    async with instance.database.unit_of_work() as work:
        user = UserRow(
            email=f"{secrets.token_hex(4)}@example.org", password_hash="unusable", role="member", language=language
        )
        work.session.add(user)
        await work.session.flush()
        row = ChannelRow(
            user_id=user.id,
            name="Mailbox",
            encrypted_url=sealed.encrypted,
            key_id=sealed.key_id,
            kind=sealed.shown,
            target=sealed.target,
        )
        work.session.add(row)
        await work.session.flush()
        return row.id


async def mark(instance: Resources) -> int:
    return await mark_refused_channels(instance, vault(instance.settings).reveal)


async def load(instance: Resources, channel_id: int) -> ChannelRow:
    async with instance.database.unit_of_work() as work:
        return await work.session.get_one(ChannelRow, channel_id)


async def test_a_refused_channel_is_marked_with_the_reason_and_its_owner_is_told_once(instance: Resources) -> None:
    number = await add_channel(instance, MAILTO, language="de")
    assert await mark(instance) == 1
    row = await load(instance, number)
    assert row.broken_at is not None
    assert (row.last_error, row.probe_at, row.failures) == (OWN_MAIL, None, 0)
    assert await mark(instance) == 0, "the next start finds nothing new"
    [told] = await SqlBrokenChannels(instance.database).claim(10)
    assert told.title == "Dein Kanal Mailbox funktioniert nicht mehr"
    assert "benutzt solche Adressen nicht mehr" in told.body
    assert "Wähle auf der Seite deiner Kanäle E-Mail" in told.body
    assert "hintereinander" not in told.body, "nothing of it has failed"
    assert "s3cr3t" not in told.body
    assert await SqlBrokenChannels(instance.database).claim(10) == []


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("ntfy://ntfy.sh/news", "ntfy"),
        ("json://example.org/?+X-Token=1", "JSON"),
        ("ada@example.org", "email"),
    ],
)
async def test_a_channel_that_may_be_used_stays_as_it_is(instance: Resources, url: str, kind: str) -> None:
    number = await add_channel(instance, url, kind=kind)
    assert await mark(instance) == 0
    assert (await load(instance, number)).broken_at is None


@pytest.mark.parametrize("url", ["dbus://", "syslog://localhost", "pover://user@token?email=other@example.org"])
async def test_whatever_is_refused_today_is_found(instance: Resources, url: str) -> None:
    number = await add_channel(instance, url, kind="other")
    assert await mark(instance) == 1
    assert (await load(instance, number)).last_error


async def test_an_address_under_a_lost_key_says_nothing_of_its_kind(instance: Resources) -> None:
    lost, found = await add_channel(instance, MAILTO), await add_channel(instance, MAILTO)
    async with instance.database.unit_of_work() as work:
        await work.session.execute(update(ChannelRow).where(ChannelRow.id == lost).values(key_id="unknown"))
    assert await mark(instance) == 1
    assert (await load(instance, lost)).broken_at is None
    assert (await load(instance, found)).broken_at is not None


async def test_status_and_doctor_count_them_until_their_owners_changed_them(instance: Resources) -> None:
    assert APP.health is not None
    assert await APP.health(instance) == ()
    await add_channel(instance, MAILTO)
    second = await add_channel(instance, MAILTO)
    await mark(instance)
    [part] = await APP.health(instance)
    assert (part.state, part.detail.split()[0]) == (HealthState.WARNING, "2")
    async with instance.database.unit_of_work() as work:
        await work.session.execute(update(ChannelRow).where(ChannelRow.id == second).values(is_active=False))
        first = await work.session.scalar(select(ChannelRow).where(ChannelRow.id != second))
        await work.session.delete(first)
    assert await APP.health(instance) == ()


async def test_pages_of_channels_are_all_looked_at(instance: Resources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressbox.delivery.adapters.refused_channels.PAGE", 2)
    for _ in range(5):
        await add_channel(instance, MAILTO)
    assert await mark(instance) == 5
    assert await RefusedChannels(instance.database).count() == 5
