"""The Apprise sender against a real target on loopback that behaves as it is told."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.http.guard import AllowList
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, Request
from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.adapters.apprise_sender import AppriseSender
from pressbox.soonish.adapters.send_limits import SendLimits
from pressbox.soonish.domain.delivery import AttemptResult, Level
from pressbox.soonish.ports import Attempt

LOOPBACK = AllowList.parse(("127.0.0.0/8",))
SECRET = "s3cr3t-token-of-a-person"


@pytest.fixture
async def target() -> AsyncIterator[NotificationTarget]:
    async with NotificationTarget() as target:
        yield target


@pytest.fixture
def sender() -> AppriseSender:
    return AppriseSender(LOOPBACK, SendLimits(seconds=5.0))


async def send(sender: AppriseSender, url: str, key: str = "channel:1", level: Level = Level.INFO) -> Attempt:
    return await sender.send(key, url, "Room change", "We meet in room 12.", level)


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def test_what_the_target_takes_is_accepted(sender: AppriseSender, target: NotificationTarget) -> None:
    assert await send(sender, target.apprise_url("anna")) == Attempt(AttemptResult.ACCEPTED)
    [received] = target.of("anna")
    assert (received.title, received.body) == ("Room change", "We meet in room 12.")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Kind.GONE, AttemptResult.REFUSED),
        (Kind.FAILING, AttemptResult.UNAVAILABLE),
        (Kind.BUSY, AttemptResult.UNAVAILABLE),
        (Kind.RESET, AttemptResult.UNCONFIRMED),
        (Kind.HANGING, AttemptResult.UNCONFIRMED),
    ],
)
async def test_each_misbehaviour_has_its_own_meaning(
    sender: AppriseSender, target: NotificationTarget, kind: Kind, expected: AttemptResult
) -> None:
    target.tell(SECRET, kind)
    attempt = await send(sender, target.apprise_url(SECRET))
    assert attempt.result is expected
    assert attempt.reason
    assert SECRET not in attempt.reason
    arrived = len(target.of(SECRET))
    assert arrived == (1 if expected is AttemptResult.UNCONFIRMED else 0), "silent means that it may have arrived"


async def test_nobody_listening_is_trouble_and_nothing_arrived(sender: AppriseSender) -> None:
    attempt = await send(sender, f"json://127.0.0.1:{unused_port()}/{SECRET}")
    assert attempt.result is AttemptResult.UNAVAILABLE
    assert SECRET not in attempt.reason


async def test_a_name_that_does_not_resolve_is_trouble(sender: AppriseSender) -> None:
    assert (await send(sender, "json://nobody.invalid/x")).result is AttemptResult.UNAVAILABLE


async def test_a_slow_target_within_the_limit_is_accepted(sender: AppriseSender, target: NotificationTarget) -> None:
    target.tell("slow", Kind.SLOW, seconds=0.4)
    assert (await send(sender, target.apprise_url("slow"))).result is AttemptResult.ACCEPTED


async def test_retry_after_is_handed_on_and_holds_back_the_next_message_to_that_channel(
    sender: AppriseSender, target: NotificationTarget
) -> None:
    target.tell("busy", Kind.BUSY, seconds=30, times=1)
    first = await send(sender, target.apprise_url("busy"), "channel:7")
    assert first.retry_after == timedelta(seconds=30)
    held = await send(sender, target.apprise_url("busy"), "channel:7")
    assert held.result is AttemptResult.UNAVAILABLE
    assert held.retry_after is not None
    assert timedelta(seconds=28) < held.retry_after <= timedelta(seconds=30)
    assert target.of("busy") == [], "nothing was sent before the moment that the target named"
    other = await send(sender, target.apprise_url("other"), "channel:8")
    assert other.result is AttemptResult.ACCEPTED, "another channel on the same host is not held back"


async def test_a_target_that_drips_its_answer_is_cut_off_and_its_thread_is_free_again(
    target: NotificationTarget,
) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            writer.write(b"HTTP/1.1 ")
            while True:
                writer.write(b"2")
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            writer.close()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        sender = AppriseSender(LOOPBACK, SendLimits(at_once=1, at_once_per_host=1, seconds=5.0))
        attempt = await send(sender, f"json://127.0.0.1:{port}/x")
        assert attempt.result is AttemptResult.UNCONFIRMED
        assert (await send(sender, target.apprise_url("next"))).result is AttemptResult.ACCEPTED


async def test_slow_targets_do_not_delay_the_others(target: NotificationTarget) -> None:
    """The slow ones have a host of their own, and there are more of them than places for one host."""
    async with NotificationTarget() as slow:
        slow.tell("", Kind.SLOW, seconds=4)
        sender = AppriseSender(LOOPBACK, SendLimits(at_once=8, at_once_per_host=4))
        waiting = [asyncio.create_task(send(sender, slow.apprise_url(f"slow-{n}"), f"channel:{n}")) for n in range(6)]
        await asyncio.sleep(0.1)
        other = target.apprise_url("quick").replace("127.0.0.1", "localhost")
        assert (await send(sender, other, "channel:99")).result is AttemptResult.ACCEPTED
        assert not all(task.done() for task in waiting)
        assert {(await task).result for task in waiting} == {AttemptResult.ACCEPTED}


async def test_private_addresses_are_refused_whatever_the_plugin(target: NotificationTarget) -> None:
    sender = AppriseSender(AllowList(), SendLimits(seconds=5.0))
    for url in (
        target.apprise_url(SECRET),
        f"form://127.0.0.1:{target.port}/{SECRET}",
        f"xml://localhost:{target.port}/{SECRET}",
        f"ntfy://127.0.0.1:{target.port}/{SECRET}",
        f"gotify://127.0.0.1:{target.port}/{SECRET}",
        f"mailto://user:{SECRET}@127.0.0.1:{target.port}?to=anna@example.org&from=us@example.org",
        f"irc://127.0.0.1:{target.port}/{SECRET}",
        "json://169.254.169.254/latest",
        "json://[::1]/x",
    ):
        attempt = await send(sender, url, url)
        assert attempt.result is AttemptResult.REFUSED, url.partition(":")[0]
        assert "PRESSBOX_HTTP_ALLOW" in attempt.reason
        assert SECRET not in attempt.reason
    assert target.received == []


async def test_a_redirect_into_the_private_network_is_refused(target: NotificationTarget) -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        location = f"http://127.0.0.1:{target.port}/inside"
        writer.write(f"HTTP/1.1 307 There\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(redirect, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        sender = AppriseSender(AllowList.parse((f"127.0.0.1:{port}",)), SendLimits(seconds=5.0))
        attempt = await send(sender, f"json://127.0.0.1:{port}/x?redirect=yes")
    assert attempt.result is AttemptResult.REFUSED
    assert target.received == []


@pytest.mark.parametrize("url", ["dbus://", "syslog://", "gnome://", "macosx://", "windows://", "kde://", "glib://"])
async def test_schemes_that_act_on_the_machine_are_refused(sender: AppriseSender, url: str) -> None:
    with pytest.raises(RefusedAddressError):
        sender.parse(url)
    assert (await send(sender, url)).result is AttemptResult.REFUSED


async def test_an_administrator_can_allow_a_scheme_of_the_machine() -> None:
    sender = AppriseSender(LOOPBACK, local_schemes=frozenset({"syslog"}))
    assert sender.parse("syslog://").scheme == "syslog"


async def test_a_plugin_cannot_read_files_of_the_machine(sender: AppriseSender, tmp_path: Path) -> None:
    key = tmp_path / "key.json"
    key.write_text('{"type": "service_account"}')
    attempt = await send(sender, f"fcm://project/{'d' * 152}/?keyfile={key}&mode=oauth2")
    assert attempt.result is AttemptResult.REFUSED
    assert "file" in attempt.reason


@pytest.mark.parametrize("url", ["", "nonsense", "nobody://x", "https://", "json://", f"json://{'x' * 5000}"])
def test_what_is_no_apprise_url_is_named_without_repeating_it(sender: AppriseSender, url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        sender.parse(url)
    assert caught.value.field == "url"


def test_what_may_be_shown_of_a_url_holds_no_secret(sender: AppriseSender) -> None:
    for url in (
        f"json://user:{SECRET}@example.org/{SECRET}",
        f"ntfys://{SECRET}@example.org/{SECRET}",
        f"tgram://123456789:{'a' * 35}/12345",
        f"discord://1234567890/{SECRET}",
    ):
        target = sender.parse(url)
        shown = f"{target.scheme} {target.service} {target.host}"
        assert SECRET not in shown
        assert "1234567" not in shown


async def test_no_library_logs_the_address(
    sender: AppriseSender, target: NotificationTarget, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    target.tell(SECRET, Kind.GONE)
    await send(sender, target.apprise_url(SECRET))
    await send(sender, f"ntfy://127.0.0.1:{target.port}/{SECRET}", "channel:2")
    await send(sender, f"mailto://user:{SECRET}@127.0.0.1:{target.port}?to=anna@example.org", "channel:3")
    assert SECRET not in caplog.text


class TakesOneOnly(NotificationTarget):
    async def answer(self, request: Request) -> Answer:
        return await super().answer(request) if not self.received else Answer(500)


async def test_an_address_with_two_targets_of_which_one_fails_is_uncertain(sender: AppriseSender) -> None:
    """Another try would reach the first one twice."""
    async with TakesOneOnly() as target:
        attempt = await send(sender, f"ntfy://127.0.0.1:{target.port}/one/two")
    assert attempt.result is AttemptResult.UNCONFIRMED
    assert len(target.received) == 1


async def test_a_refused_address_of_a_name_does_not_hide_what_an_allowed_one_said(target: NotificationTarget) -> None:
    sender = AppriseSender(AllowList.parse((f"127.0.0.1:{target.port}",)), SendLimits(seconds=5.0))
    target.tell("x", Kind.FAILING)
    attempt = await send(sender, f"json://localhost:{target.port}/x")
    assert attempt.result is AttemptResult.UNAVAILABLE


async def test_mail_channels_are_watched_too(sender: AppriseSender) -> None:
    async with MailSink() as sink:

        def url(name: str) -> str:
            return f"mailto://127.0.0.1:{sink.smtp_port}?to={name}@example.org&from=us@example.org&mode=insecure"

        assert (await send(sender, url("anna"), "anna")).result is AttemptResult.ACCEPTED
        assert len(sink.to("anna@example.org")) == 1
        sink.tell("gone@example.org", Kind.GONE)
        assert (await send(sender, url("gone"), "gone")).result is AttemptResult.UNAVAILABLE
        sink.tell("cut@example.org", Kind.RESET)
        assert (await send(sender, url("cut"), "cut")).result is AttemptResult.UNCONFIRMED


async def test_levels_become_the_types_of_apprise(sender: AppriseSender, target: NotificationTarget) -> None:
    for level, expected in ((Level.INFO, "info"), (Level.WARNING, "warning"), (Level.CRITICAL, "failure")):
        await sender.send(f"channel:{level}", target.apprise_url(level), "t", "b", level)
        assert target.of(level)[0].kind == expected
