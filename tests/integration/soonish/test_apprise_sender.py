"""The Apprise sender against a real target on loopback that behaves as it is told."""

import asyncio
import gc
import logging
import socket
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from pressbox.core.clock import machine_seconds
from pressbox.core.config import HttpSettings
from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.http.proxy import GuardedProxy
from pressbox.delivery.adapters.apprise_child import list_services
from pressbox.delivery.adapters.apprise_sender import AppriseSender, fork_server
from pressbox.delivery.adapters.send_lanes import SendLanes
from pressbox.delivery.adapters.send_limits import SendLimits
from pressbox.delivery.domain.attempts import AttemptResult, Level
from pressbox.delivery.domain.targets import Audience
from pressbox.delivery.ports import Attempt, NoTurnError, OutgoingMessage
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.notification_target import NotificationTarget
from tests.fakes.lanes import MemoryLanes
from tests.patience import patience

LOOPBACK = "127.0.0.0/8"
QUICK = SendLimits(seconds=patience(5))
SECRET = "s3cr3t-token-of-a-person"


@pytest.fixture
async def target() -> AsyncIterator[NotificationTarget]:
    async with NotificationTarget() as target:
        yield target


MakeSender = Callable[..., AppriseSender]


@pytest.fixture
async def make_sender() -> AsyncIterator[MakeSender]:
    made: list[AppriseSender] = []

    def make(*allow: str, limits: SendLimits = QUICK, local_schemes: frozenset[str] = frozenset()) -> AppriseSender:
        made.append(
            AppriseSender(GuardedProxy(HttpSettings(allow=allow)), SendLanes(MemoryLanes()), limits, local_schemes)
        )
        return made[-1]

    yield make
    for sender in made:
        await sender.close()


@pytest.fixture
def sender(make_sender: MakeSender) -> AppriseSender:
    return make_sender(LOOPBACK)


async def send(
    sender: AppriseSender,
    url: str,
    key: str = "channel:1",
    level: Level = Level.INFO,
    audience: Audience = Audience.MEMBER,
) -> Attempt:
    message = OutgoingMessage("Room change", "We meet in room 12.", level, "", "")
    return await sender.send(key, url, message, audience)


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
    target.tell("busy", Kind.BUSY, seconds=900, times=1)
    first = await send(sender, target.apprise_url("busy"), "channel:7")
    assert first.retry_after == timedelta(minutes=15)
    with pytest.raises(NoTurnError) as held:
        await send(sender, target.apprise_url("busy"), "channel:7")
    assert timedelta(minutes=5) < held.value.wait <= timedelta(minutes=15)
    assert target.of("busy") == [], "nothing was sent before the moment that the target named"
    other = await send(sender, target.apprise_url("other"), "channel:8")
    assert other.result is AttemptResult.ACCEPTED, "another channel on the same host is not held back"


async def test_a_target_that_drips_its_answer_is_cut_off_and_its_place_is_free_again(
    make_sender: MakeSender, target: NotificationTarget
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
        sender = make_sender(LOOPBACK, limits=SendLimits(at_once=1, at_once_per_host=1, seconds=patience(3)))
        attempt = await send(sender, f"json://127.0.0.1:{port}/x")
        assert attempt.result is AttemptResult.UNCONFIRMED
        assert (await send(sender, target.apprise_url("next"))).result is AttemptResult.ACCEPTED


async def test_slow_targets_do_not_delay_the_others(make_sender: MakeSender, target: NotificationTarget) -> None:
    """The slow ones have a host of their own, and there are more of them than places for one host."""
    async with NotificationTarget() as slow:
        slow.tell("", Kind.SLOW, seconds=4)
        sender = make_sender(LOOPBACK, limits=SendLimits(at_once=8, at_once_per_host=4))
        waiting = [asyncio.create_task(send(sender, slow.apprise_url(f"slow-{n}"), f"channel:{n}")) for n in range(6)]
        await asyncio.sleep(0.1)
        other = target.apprise_url("quick").replace("127.0.0.1", "localhost")
        assert (await send(sender, other, "channel:99")).result is AttemptResult.ACCEPTED
        assert not all(task.done() for task in waiting)
        assert {(await task).result for task in waiting} == {AttemptResult.ACCEPTED}


async def test_private_addresses_are_refused_whatever_the_plugin(
    make_sender: MakeSender, target: NotificationTarget
) -> None:
    sender = make_sender()
    for url in (
        target.apprise_url(SECRET),
        f"form://127.0.0.1:{target.port}/{SECRET}",
        f"xml://localhost:{target.port}/{SECRET}",
        f"ntfy://127.0.0.1:{target.port}/{SECRET}",
        f"gotify://127.0.0.1:{target.port}/{SECRET}",
        "json://169.254.169.254/latest",
        "json://[::1]/x",
    ):
        attempt = await send(sender, url, url)
        assert attempt.result is AttemptResult.REFUSED, url.partition(":")[0]
        assert "PRESSBOX_HTTP_ALLOW" in attempt.reason
        assert SECRET not in attempt.reason
    assert target.received == []


async def test_a_redirect_into_the_private_network_is_refused(
    make_sender: MakeSender, target: NotificationTarget
) -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        # With the end of its body: a connection that closes before is a broken one.
        await reader.readuntil(b"}")
        location = f"http://127.0.0.1:{target.port}/inside"
        writer.write(f"HTTP/1.1 307 There\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(redirect, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        sender = make_sender(f"127.0.0.1:{port}")
        attempt = await send(sender, f"json://127.0.0.1:{port}/x?redirect=yes")
    assert attempt.result is AttemptResult.REFUSED
    assert target.received == []


@pytest.mark.parametrize("url", ["dbus://", "syslog://", "gnome://", "macosx://", "windows://", "kde://", "glib://"])
async def test_schemes_that_act_on_the_machine_are_refused(sender: AppriseSender, url: str) -> None:
    with pytest.raises(RefusedAddressError):
        await sender.describe(url, Audience.MEMBER)
    assert (await send(sender, url)).result is AttemptResult.REFUSED


async def test_a_scheme_of_the_machine_that_is_allowed_is_for_administrators(make_sender: MakeSender) -> None:
    sender = make_sender(local_schemes=frozenset({"syslog"}))
    assert (await sender.describe("syslog://", Audience.ADMINISTRATOR)).scheme == "syslog"
    for audience in (Audience.ANYBODY, Audience.MEMBER):
        with pytest.raises(RefusedAddressError):
            await sender.describe("syslog://", audience)


async def test_a_plugin_cannot_read_files_of_the_machine(sender: AppriseSender, tmp_path: Path) -> None:
    key = tmp_path / "key.json"
    key.write_text('{"type": "service_account"}')
    attempt = await send(sender, f"fcm://project/{'d' * 152}/?keyfile={key}&mode=oauth2")
    assert attempt.result is AttemptResult.REFUSED
    assert "file" in attempt.reason


@pytest.mark.parametrize("url", ["", "nonsense", "nobody://x", "https://", "json://", f"json://{'x' * 5000}"])
async def test_what_is_no_apprise_url_is_named_without_repeating_it(sender: AppriseSender, url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await sender.describe(url, Audience.MEMBER)
    assert caught.value.field == "url"


@pytest.mark.parametrize(
    "url",
    [
        f"json://user:{SECRET}@example.org/{SECRET}",
        f"ntfys://{SECRET}@example.org/{SECRET}",
        f"ntfy://{SECRET}",
        f"https://ntfy.sh/{SECRET}",
        f"matrix://user:{SECRET}@example.org/#{SECRET}",
        f"lametric://{SECRET}@192.0.2.7",
        f"tgram://123456789:{'a' * 35}/12345",
        f"discord://1234567890/{SECRET}",
    ],
)
async def test_what_may_be_shown_of_a_url_holds_no_secret(sender: AppriseSender, url: str) -> None:
    facts = await sender.describe(url, Audience.ANYBODY)
    shown = f"{facts!r} {facts.scheme} {facts.service}"
    assert SECRET not in shown
    assert "1234567" not in shown
    assert "example.org" not in shown


@pytest.mark.parametrize(
    "url",
    [
        "mailto://mx.example.org:25?to=victim@example.org",
        "mailto://example.org/victim0@example.org/victim4@example.org?from=ceo@example.com&name=The+Bank",
        "mailtos://user:pass@example.org?cc=victim@example.org",
        "ntfy://topic?email=victim@example.org",
        "ntfy://topic?EMAIL=victim@example.org",
        "ntfy://topic?x=1;email=victim@example.org",
        "ntfy://topic?%65mail=victim@example.org",
        "https://ntfy.sh/topic?email=victim@example.org",
        "ntfy://ntfy.sh/mine,victims",
        "ntfy://ntfy.sh/mine?to=victims",
        "json://example.org/send?:to=victim@example.org",
        "json://example.org/send?+X-To=victim@example.org",
        "json://example.org/send?-to=victim@example.org",
        "matrix://user:pass@example.org/#mine/@victim:example.org",
        f"sendgrid://{'a' * 20}:me@example.org/victim@example.org",
        f"twilio://AC{'a' * 32}:{'b' * 32}@+15551234567/+15557654321",
        "signal://example.org:8080/+15551234567/+15557654321",
        "apprise://example.org/token",
    ],
)
async def test_strangers_reach_nobody_else(sender: AppriseSender, target: NotificationTarget, url: str) -> None:
    with pytest.raises((InvalidInputError, RefusedAddressError)) as caught:
        await sender.describe(url, Audience.ANYBODY)
    assert "victim" not in str(caught.value)
    attempt = await send(sender, url, audience=Audience.ANYBODY)
    assert attempt.result is AttemptResult.REFUSED, "also one that was stored before"
    assert "victim" not in attempt.reason


async def test_a_farewell_of_a_plugin_cannot_leave_the_guard_or_hold_us_up(make_sender: MakeSender) -> None:
    """The Matrix plugin logs out in its destructor; the answer sends it to a service of this machine."""
    async with NotificationTarget() as inside:
        asked: list[str] = []

        class Matrix(HttpService):
            async def answer(self, request: Request) -> Answer:
                asked.append(request.path)
                if "/logout" in request.path:
                    return Answer(302, headers={"Location": f"http://127.0.0.1:{inside.port}/{SECRET}"})
                return Answer.of(
                    {"access_token": "t", "home_server": "h", "user_id": "@u:h", "room_id": "!r:h", "event_id": "$1"}
                )

        async with Matrix() as server:
            sender = make_sender(f"127.0.0.1:{server.port}")
            url = f"matrix://u:p@127.0.0.1:{server.port}/!r:h?redirect=yes&discovery=no"
            attempt = await send(sender, url)
            gc.collect()
        assert attempt.result is AttemptResult.ACCEPTED
        assert any("/logout" in path for path in asked), "it says goodbye, behind the guard"
        assert inside.received == []


async def test_a_slow_farewell_delays_nothing_but_its_own_process(make_sender: MakeSender) -> None:
    class Matrix(HttpService):
        async def answer(self, request: Request) -> Answer:
            if "/logout" in request.path:
                await asyncio.sleep(60)
            return Answer.of(
                {"access_token": "t", "home_server": "h", "user_id": "@u:h", "room_id": "!r:h", "event_id": "$1"}
            )

    async with Matrix() as server:
        sender = make_sender(f"127.0.0.1:{server.port}")
        sending = asyncio.create_task(send(sender, f"matrix://u:p@127.0.0.1:{server.port}/!r:h?discovery=no"))
        loop, longest, before = asyncio.get_running_loop(), 0.0, 0.0
        while not sending.done():
            before = loop.time()
            await asyncio.sleep(0.01)
            longest = max(longest, loop.time() - before)
        assert sending.result().result is AttemptResult.ACCEPTED
        assert longest < 30, "the event loop went on all the time"


async def test_no_library_logs_the_address(
    sender: AppriseSender, target: NotificationTarget, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    target.tell(SECRET, Kind.GONE)
    await send(sender, target.apprise_url(SECRET))
    await send(sender, f"ntfy://127.0.0.1:{target.port}/{SECRET}", "channel:2")
    await send(sender, f"mailto://user:{SECRET}@127.0.0.1:{target.port}?to=anna@example.org", "channel:3")
    await send(sender, f"json://{SECRET}.invalid/x", "channel:4")
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


async def test_a_name_is_allowed_with_all_its_addresses(make_sender: MakeSender, target: NotificationTarget) -> None:
    sender = make_sender(f"127.0.0.1:{target.port}")
    target.tell("x", Kind.FAILING)
    attempt = await send(sender, f"json://localhost:{target.port}/x")
    assert attempt.result is AttemptResult.UNAVAILABLE


async def test_levels_become_the_types_of_apprise(sender: AppriseSender, target: NotificationTarget) -> None:
    for level, expected in ((Level.INFO, "info"), (Level.WARNING, "warning"), (Level.CRITICAL, "failure")):
        await send(sender, target.apprise_url(level), f"channel:{level}", level)
        assert target.of(level)[0].kind == expected


@pytest.mark.parametrize(
    ("url", "most"),
    [
        ("discord://webhook/token", 2000),
        ("tgram://123456789:abcdefg_hijklmnop/12315544", 4096),
        ("pover://user@token", 1024),
        ("ntfy://topic", 4096),
        ("json://127.0.0.1/x", 32768),
    ],
)
async def test_each_service_has_the_limit_of_its_own(sender: AppriseSender, url: str, most: int) -> None:
    limit = await sender.find_limit(url, "Room change")
    assert limit is not None
    assert most - 100 < limit < most


async def test_hundreds_that_are_the_first_ask_one_process_what_services_there_are(
    make_sender: MakeSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each had a process of its own: an event of a thousand people heard of its cancellation nine seconds later."""
    asked, real = [], fork_server()

    class Counting:
        async def run(self, function: Callable[..., object], *arguments: object) -> object:
            asked.append(function)
            return await real.run(function, *arguments)

    monkeypatch.setattr("pressbox.delivery.adapters.apprise_sender.fork_server", Counting)
    sender = make_sender(LOOPBACK)
    limits = await asyncio.gather(*(sender.find_limit("json://127.0.0.1/x", "Title") for _ in range(300)))
    assert len(set(limits)) == 1
    assert asked == [list_services]


async def test_a_message_whose_time_is_over_does_not_leave(sender: AppriseSender, target: NotificationTarget) -> None:
    """The process that sends asks last: somebody else may have the claim by now."""
    late = OutgoingMessage("Room change", "Room 2", Level.INFO, "", "", not_after=machine_seconds() - 1)
    attempt = await sender.send("channel:1", target.apprise_url("late"), late, Audience.MEMBER)
    assert attempt.result is AttemptResult.UNAVAILABLE
    in_time = OutgoingMessage("Room change", "Room 2", Level.INFO, "", "", not_after=machine_seconds() + 60)
    assert (await sender.send("channel:1", target.apprise_url("late"), in_time, Audience.MEMBER)).result is (
        AttemptResult.ACCEPTED
    )
    assert len(target.of("late")) == 1
