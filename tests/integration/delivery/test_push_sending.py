"""Push messages reach a browser encrypted for it alone, and every answer of a push service is understood."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from pressbox.core.config import HttpSettings, Settings, WebSettings
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, RateLimitedError, RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.delivery.push.keys import PushKeys
from pressbox.delivery.push.message import MOST_BYTES, PushAction, PushActionKind, PushMessage, encode_message
from pressbox.delivery.push.sender import (
    PushGoneError,
    PushRefusedError,
    PushSender,
    contact_of,
    sign,
    topic_of,
    wait_of,
)
from pressbox.delivery.push.subscription import PushSubscription, check_target
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.push_service import PushService, SimulatedBrowser, decode, encode, is_signed

GOAL = PushMessage(
    title="Goal for Liverpool by Salah, 23′",
    body="Liverpool 1–0 Arsenal",
    path="/footy/matches/9",
    tag="footy.goal.9.1",
    actions=(PushAction(PushActionKind.WATCH, "/footy/matches/9"), PushAction(PushActionKind.MUTE, "footy.team.40")),
    badge=3,
)


@pytest.fixture
async def service() -> AsyncIterator[PushService]:
    async with PushService() as service:
        yield service


@pytest.fixture
def keys(database: Database, settings: Settings) -> PushKeys:
    return PushKeys(database, settings)


@pytest.fixture
async def sender(service: PushService, keys: PushKeys, settings: Settings) -> AsyncIterator[PushSender]:
    allowed = HttpSettings(allow=(f"127.0.0.1:{service.port}",))
    async with GuardedClient(allowed) as http:
        yield PushSender(http, keys, settings)


def subscription_of(browser: SimulatedBrowser, language: str = "en") -> PushSubscription:
    said = browser.subscription()
    return PushSubscription(7, 1, check_target(said["endpoint"], **said["keys"]), language)


async def test_a_message_can_be_read_by_its_browser_and_by_no_other(service: PushService, sender: PushSender) -> None:
    phone, stranger = service.add_browser("phone"), service.add_browser("stranger")
    await sender.send(subscription_of(phone), GOAL)
    [message] = service.of("phone")
    assert message["title"] == "Goal for Liverpool by Salah, 23′"
    assert (message["path"], message["tag"], message["badge"]) == ("/footy/matches/9", "footy.goal.9.1", 3)
    assert message["actions"] == [
        {"action": "watch", "title": "Watch", "target": "/footy/matches/9"},
        {"action": "mute", "title": "Mute", "target": "footy.team.40"},
    ]
    body = service.received[0].body
    assert b"Liverpool" not in body
    with pytest.raises(Exception, match=r"^$"):
        stranger.decrypt(body)


async def test_the_same_message_is_never_the_same_bytes(service: PushService, sender: PushSender) -> None:
    phone = subscription_of(service.add_browser("phone"))
    await sender.send(phone, GOAL)
    await sender.send(phone, GOAL)
    first, second = (pushed.body for pushed in service.received)
    assert first != second


async def test_one_signature_serves_many_messages_to_a_service(service: PushService, sender: PushSender) -> None:
    for name in ("ada", "ben"):
        await sender.send(subscription_of(service.add_browser(name)), PushMessage("Goal"))
    first, second = (pushed.headers["authorization"] for pushed in service.received)
    assert first == second


async def test_a_service_can_replace_what_waits_without_learning_what_it_is(
    service: PushService, sender: PushSender
) -> None:
    await sender.send(subscription_of(service.add_browser("phone")), GOAL)
    headers = service.received[0].headers
    assert headers["topic"] == topic_of(GOAL.tag)
    assert len(headers["topic"]) == 32
    assert "goal" not in headers["topic"]
    assert headers["content-encoding"] == "aes128gcm"
    assert int(headers["ttl"]) == 12 * 3600


async def test_what_was_taken_back_says_so_in_the_language_of_its_reader(
    service: PushService, sender: PushSender
) -> None:
    phone = subscription_of(service.add_browser("phone"), "de")
    await sender.send(phone, PushMessage("Tor für Liverpool", tag="goal", withdrawn=True, actions=GOAL.actions))
    [message] = service.of("phone")
    assert message["title"] == "Zurückgenommen: Tor für Liverpool"
    assert [action["title"] for action in message["actions"]] == ["Ansehen", "Stumm"]


async def test_a_browser_that_is_gone_is_told_apart_from_trouble(service: PushService, sender: PushSender) -> None:
    phone = subscription_of(service.add_browser("phone"))
    service.tell("phone", Kind.GONE, times=1)
    with pytest.raises(PushGoneError):
        await sender.send(phone, GOAL)
    service.tell("phone", Kind.FAILING, times=1)
    with pytest.raises(TransientError, match="500"):
        await sender.send(phone, GOAL)
    service.tell("phone", Kind.RESET, times=1)
    with pytest.raises(TransientError):
        await sender.send(phone, GOAL)
    del service.browsers["phone"]
    with pytest.raises(PushGoneError):
        await sender.send(phone, GOAL)


async def test_a_busy_service_says_when_to_come_back(service: PushService, sender: PushSender) -> None:
    phone = subscription_of(service.add_browser("phone"))
    service.tell("phone", Kind.BUSY, seconds=90, times=1)
    with pytest.raises(RateLimitedError) as busy:
        await sender.send(phone, GOAL)
    assert busy.value.retry_after == timedelta(seconds=90)
    await sender.send(phone, GOAL)
    assert len(service.received) == 1


async def test_a_silent_service_is_worth_another_try(
    service: PushService, sender: PushSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressbox.delivery.push.sender.TIMEOUT", timedelta(milliseconds=300))
    phone = subscription_of(service.add_browser("phone"))
    service.tell("phone", Kind.HANGING)
    with pytest.raises(TransientError, match="did not answer"):
        await sender.send(phone, GOAL)


async def test_what_a_service_refuses_is_not_tried_again(service: PushService, sender: PushSender) -> None:
    phone = subscription_of(service.add_browser("phone"))
    service.most_bytes = 100
    with pytest.raises(PushRefusedError, match="413"):
        await sender.send(phone, GOAL)


async def test_an_inner_address_is_refused_before_anything_is_sent(
    service: PushService, keys: PushKeys, settings: Settings
) -> None:
    phone = subscription_of(service.add_browser("phone"))
    async with GuardedClient(HttpSettings()) as http:
        with pytest.raises(RefusedAddressError):
            await PushSender(http, keys, settings).send(phone, GOAL)
    assert service.received == []


async def test_every_process_has_the_same_key_also_when_two_make_it_at_once(
    database: Database, settings: Settings
) -> None:
    made = [await PushKeys(database, settings).load() for _ in range(3)]
    assert len({pair.public_key for pair in made}) == 1
    assert len(decode(made[0].public_key)) == 65


async def test_the_key_outlives_a_change_of_the_instance_key(database: Database) -> None:
    old, new = SecretStr("the old instance key of this test"), SecretStr("the new instance key of this test")
    before = await PushKeys(database, Settings(secret_key=old)).load()
    assert await PushKeys(database, Settings(secret_key=new, old_secret_keys=old)).seal_again() == 1
    assert await PushKeys(database, Settings(secret_key=new)).load() == before


async def test_a_signature_is_for_one_service_and_half_a_day(keys: PushKeys) -> None:
    now = int(datetime.now(UTC).timestamp())
    pair = await keys.load()
    said = sign("https://push.example.org/send/1", pair, "mailto:ops@example.org", now)
    assert is_signed(said, "https://push.example.org")
    assert not is_signed(said, "https://other.example.org")
    assert not is_signed(
        sign("https://push.example.org/1", pair, "mailto:a@b.org", now - 50_000), "https://push.example.org"
    )
    with_port = sign("https://push.example.org:8443/send/1", pair, "mailto:ops@example.org", now)
    assert is_signed(with_port, "https://push.example.org:8443")


def test_the_decryption_of_the_demo_reads_the_example_of_the_standard() -> None:
    browser = SimulatedBrowser.with_keys(
        "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
        "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    body = decode(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
        "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    assert browser.decrypt(body) == b"When I grow up, I want to be a watermelon"


@given(title=st.text(max_size=400), body=st.text(max_size=6_000))
def test_a_message_always_fits_a_push_service(title: str, body: str) -> None:
    encoded = encode_message(PushMessage(title, body, "/x", "t", GOAL.actions, withdrawn=True))
    assert len(encoded) <= MOST_BYTES
    assert json.loads(encoded)["title"].startswith("Taken back: ")


def test_a_message_leads_nowhere_else() -> None:
    for path in ("https://evil.example", "//evil.example", "inbox", ""):
        with pytest.raises(ValueError, match="path of ours"):
            encode_message(PushMessage("Goal", path=path))


def test_only_what_a_browser_gives_is_taken() -> None:
    good = SimulatedBrowser("https://push.example.org/1").subscription()
    keys = dict(good["keys"])
    assert check_target(good["endpoint"], **keys).host == "push.example.org"
    wrong = (
        ("http://push.example.org/1", keys),
        ("https://push.example.org/" + "a" * 3_000, keys),
        (good["endpoint"], keys | {"auth": encode(b"short")}),
        (good["endpoint"], keys | {"auth": "?"}),
        (good["endpoint"], keys | {"p256dh": encode(b"\4" + b"\1" * 64)}),
        (good["endpoint"], keys | {"p256dh": ""}),
    )
    for endpoint, given_keys in wrong:
        with pytest.raises(InvalidInputError):
            check_target(endpoint, **given_keys)


def test_waiting_times_are_read_in_seconds_and_as_dates() -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    assert wait_of("120", now) == timedelta(minutes=2)
    assert wait_of("Sun, 15 Nov 2026 12:05:00 GMT", now) == timedelta(minutes=5)
    assert wait_of("Sun, 15 Nov 2026 11:00:00 GMT", now) == timedelta()
    assert wait_of("99999999999", now) == timedelta(days=1)
    assert wait_of("soon", now) is None
    assert wait_of("", now) is None


def test_operators_of_push_services_find_the_administrator() -> None:
    assert contact_of(Settings(http=HttpSettings(contact="ops@example.org"))) == "mailto:ops@example.org"
    assert (
        contact_of(Settings(http=HttpSettings(contact="https://example.org/contact"))) == "https://example.org/contact"
    )
    assert contact_of(Settings(web=WebSettings(public_url="https://box.example.org"))) == "https://box.example.org"
    assert contact_of(Settings()).startswith("mailto:")
