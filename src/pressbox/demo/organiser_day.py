"""The day of an organiser, played through the API: three people follow an event that is moved and cancelled."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import httpx

from pressbox.core.accounts.models import Scope
from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import TransientError
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.stage import Finding, Stage

SETTLE_SECONDS = 60.0
# From the creation to the guest's reminder: long enough for everything before it, on a busy machine too.
REMINDER_SECONDS = 40.0
SHORTEST_REMINDER_SECONDS = 15.0
_CONFIRM = re.compile(r"https?://\S+/events/confirm/\S+")

Result = TypeVar("Result")


@dataclass(frozen=True)
class Names:
    """New names for every round, because the home of the demo keeps the earlier ones."""

    organiser: str
    guest: str
    stranger: str
    mail: str

    @classmethod
    def make(cls) -> "Names":
        mark = secrets.token_hex(3)
        return cls(f"organiser-{mark}", f"guest-{mark}", f"stranger-{mark}", f"reader-{mark}@example.org")


class Person:
    """A user of the API: the trusted user of the open mode, or the owner of a token."""

    def __init__(self, web_url: str, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.AsyncClient(base_url=web_url, headers=headers, trust_env=False, timeout=20.0)

    async def close(self) -> None:
        await self._client.aclose()

    async def get(self, path: str) -> Any:
        return (await self._client.get(f"/api/soonish{path}")).raise_for_status().json()

    async def send(self, method: str, path: str, **body: object) -> Any:
        answer = await self._client.request(method, f"/api/soonish{path}", json=body or None)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    async def follow_link(self, url: str) -> None:
        """Do what the button on the page behind a link does."""
        (await self._client.post(httpx.URL(url).raw_path.decode(), follow_redirects=True)).raise_for_status()


async def play_soonish(stage: Stage) -> tuple[Finding, ...]:
    """Create an event, subscribe three people in three ways, move it by an hour, announce, remind, cancel."""
    names = Names.make()
    organiser, guest = Person(stage.web_url), Person(stage.web_url, await _add_account(stage, names.guest))
    channel = await organiser.send(
        "POST", "/channels", name="Desk", url=stage.world.notifications.apprise_url(names.organiser), tags=[]
    )
    try:
        return await _Day(stage, names, organiser, guest).run()
    finally:
        await organiser.send("DELETE", f"/channels/{channel['id']}")
        await organiser.close()
        await guest.close()


class _Day:
    def __init__(self, stage: Stage, names: Names, organiser: Person, guest: Person) -> None:
        self._stage = stage
        self._names = names
        self._organiser = organiser
        self._guest = guest
        self._slug = ""

    async def run(self) -> tuple[Finding, ...]:
        until_reminder = max(self._stage.time(REMINDER_SECONDS).total_seconds(), SHORTEST_REMINDER_SECONDS)
        start = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)
        moved = start + timedelta(hours=1)
        await self._create(start)
        offset = timedelta(hours=3) - timedelta(seconds=int(until_reminder))
        followers = await self._follow(offset)
        await self._organiser.send("PATCH", f"/events/{self._slug}", start_date=moved.isoformat())
        await self._wait_until_finished("updated")
        await self._announce(followers)
        await self._wait_until_finished("announcement")
        await self._wait_until_finished("reminder")
        await self._organiser.send("POST", f"/events/{self._slug}/cancel")
        await self._wait_until_finished("cancelled")
        return await self._collect_findings()

    async def _create(self, start: datetime) -> None:
        event = await self._organiser.send(
            "POST",
            "/events",
            name=f"Summer fair {self._stage.round}",
            start_date=start.isoformat(),
            timezone="Europe/Berlin",
            location="Town hall",
        )
        self._slug = event["slug"]
        await self._wait_until_finished("created")

    async def _follow(self, offset: timedelta) -> Sequence[int]:
        """Subscribe all three and return those who get the announcement.

        The guest's reminder is too late until the event moves.
        """
        target, path = self._stage.world.notifications, f"/events/{self._slug}/subscriptions"
        await self._guest.send(
            "POST", "/channels", name="Phone", url=target.apprise_url(self._names.guest), tags=["me"]
        )
        guest = await self._guest.send("POST", path, tags=["me"], offsets=[int(offset.total_seconds())])
        await self._organiser.send("POST", path, url=target.apprise_url(self._names.stranger), offsets=[])
        await self._organiser.follow_link(await _until(self._find_message))
        stranger = (await self._organiser.get(path))[-1]
        await self._organiser.send("POST", path, email=self._names.mail, offsets=[])
        await self._organiser.follow_link(await _until(self._find_confirmation))
        return guest["subscription"]["id"], stranger["subscription_id"]

    async def _find_message(self) -> str | None:
        for message in self._stage.world.notifications.of(self._names.stranger):
            if found := _CONFIRM.search(message.body):
                return found.group()
        return None

    async def _find_confirmation(self) -> str | None:
        for mail in self._stage.world.mail.to(self._names.mail):
            if found := _CONFIRM.search(mail.body):
                return found.group()
        return None

    async def _announce(self, followers: Sequence[int]) -> None:
        # The first try fails, so that the ledger has something to show.
        self._stage.world.notifications.tell(self._names.stranger, Kind.FAILING, times=1)
        await self._organiser.send(
            "POST",
            f"/events/{self._slug}/announce",
            text="We meet in room 12.",
            level="warning",
            subscription_ids=list(followers),
        )

    async def _wait_until_finished(self, cause: str) -> Any:
        async def look() -> Any:
            messages = await self._organiser.get(f"/events/{self._slug}/messages")
            return next((item for item in messages if item["cause"] == cause and item["finished_at"]), None)

        return await _until(look)

    async def _collect_findings(self) -> tuple[Finding, ...]:
        messages = await self._organiser.get(f"/events/{self._slug}/messages")
        reminders = [item for item in messages if item["cause"] == "reminder"]
        sent = sum(item["counts"]["sent"] for item in messages)
        others = sum(sum(item["counts"].values()) for item in messages) - sent
        again = [
            delivery
            for item in messages
            for delivery in await self._organiser.get(f"/deliveries?message_id={item['id']}")
            if delivery["tries"] > 1
        ]
        target = self._stage.world.notifications
        return (
            Finding(name="soonish broadcasts", expected=4, found=len(messages) - len(reminders)),
            Finding(name="soonish reminders sent", expected=1, found=sum(item["counts"]["sent"] for item in reminders)),
            Finding(name="soonish deliveries sent", expected=10, found=sent),
            Finding(name="soonish deliveries in other states", expected=0, found=others),
            Finding(name="soonish deliveries after a retry", expected=1, found=len(again)),
            Finding(name="messages to the organiser", expected=1, found=len(target.of(self._names.organiser))),
            Finding(name="messages to the guest", expected=4, found=len(target.of(self._names.guest))),
            Finding(name="messages to the stranger", expected=4, found=len(target.of(self._names.stranger))),
            Finding(
                name="mails with the confirmation", expected=3, found=len(self._stage.world.mail.to(self._names.mail))
            ),
        )


async def _add_account(stage: Stage, name: str) -> str:
    """Add an account, as an administrator would, and return a token for it."""
    accounts = AccountService(stage.resources.database, stage.resources.settings)
    user = await accounts.add_user(f"{name}@example.org", secrets.token_urlsafe(16), name=name)
    made = await accounts.add_token(user.id, "demo", [Scope.READ, Scope.WRITE])
    return made.secret


async def _until(look: Callable[[], Awaitable[Result | None]]) -> Result:
    try:
        async with asyncio.timeout(SETTLE_SECONDS):
            while True:
                if (found := await look()) is not None:
                    return found
                await asyncio.sleep(0.2)
    except TimeoutError as error:
        raise TransientError("The organiser's day is stuck: what it waits for does not happen.") from error
