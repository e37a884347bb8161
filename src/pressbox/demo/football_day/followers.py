"""People of the demo who follow a team or a competition, and hear of goals by mail, in a chat and on their phones."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from pydantic import SecretStr

from pressbox.core.accounts.models import Scope
from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import TransientError
from pressbox.delivery.push.store import PushStore
from pressbox.delivery.push.subscription import check_target
from pressbox.demo.football_day.told import Arrived, Tally, Way, is_settled, read_arrived, tally
from pressbox.demo.stage import Finding, Stage
from pressbox.embedded.home import Home

PEOPLE = 3
LOOK_SECONDS = 0.5
PAGE = 200


@dataclass(frozen=True)
class Follower:
    """`name` is that of the chat and of the phone."""

    name: str
    mail: str
    token: str


class Followers:
    def __init__(self, stage: Stage, people: Sequence[Follower]) -> None:
        self._stage = stage
        self.people = people

    @classmethod
    async def move_in(cls, stage: Stage, followed: str, people: int = PEOPLE) -> "Followers":
        """New people for every round. `followed` is `team/…` or `league/…`."""
        return cls(stage, [await _move_in(stage, followed) for _ in range(people)])

    def arrived(self, person: Follower) -> Arrived:
        world = self._stage.world
        return read_arrived(world.mail.to(person.mail), world.notifications.of(person.name), world.push.of(person.name))

    async def count(self, settle: timedelta) -> Tally:
        """Once everything has left, what everybody was told of goals."""
        deadline = datetime.now(UTC) + settle
        while datetime.now(UTC) < deadline:
            try:
                inboxes = [await self._load_goals(person) for person in self.people]
                if all(is_settled(lines) for lines in inboxes):
                    return tally(zip(inboxes, map(self.arrived, self.people), strict=True))
            except httpx.HTTPError:
                # The web application or its database may be restarting: some scenarios do that on purpose.
                pass
            await asyncio.sleep(LOOK_SECONDS)
        raise TransientError("What people should be told does not leave.")

    async def _load_goals(self, person: Follower) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        query: dict[str, int] = {"limit": PAGE}
        async with _api(self._stage, person.token) as client:
            while True:
                page = (await client.get("/inbox", params=query)).raise_for_status().json()
                found += [line for line in page["notices"] if line["kind"] == "goal"]
                if page["older"] is None:
                    return found
                query["before"] = page["older"]


def _api(stage: Stage, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=f"{stage.web_url}/api", headers=headers, trust_env=False, timeout=30.0)


async def _move_in(stage: Stage, followed: str) -> Follower:
    name = f"follower-{secrets.token_hex(3)}"
    database, settings = stage.resources.database, stage.resources.settings
    accounts = AccountService(database, settings)
    user = await accounts.add_user(f"{name}@example.org", secrets.token_urlsafe(16), name=name)
    token = (await accounts.add_token(user.id, "demo", [Scope.READ, Scope.WRITE])).secret
    async with _api(stage, token) as client:
        (await client.put(f"/footy/follow/own/{followed}")).raise_for_status()
        chat = {"name": "Chat", "url": stage.world.notifications.apprise_url(name), "tags": []}
        (await client.post("/soonish/channels", json=chat)).raise_for_status()
        ways = (await client.get("/follows/ways")).raise_for_status().json()
        (await client.put("/follows/ways", json={"keys": [way["key"] for way in ways]})).raise_for_status()
    # A phone subscribes in its own session, which nobody has here.
    said = stage.world.push.add_browser(name).subscription()
    target = check_target(said["endpoint"], said["keys"]["p256dh"], said["keys"]["auth"])
    sealed = settings.model_copy(update={"secret_key": SecretStr(Home(settings.home).secret_key() or "")})
    await PushStore(database, sealed).subscribe(user.id, target, name="Phone", language="en")
    return Follower(name, f"{name}@example.org", token)


def list_findings(counted: Tally, *, goals: int, people: int, taken_back: int | None = None) -> tuple[Finding, ...]:
    """`goals` stand in the end. Of those that do not, `taken_back` were told; None: as many as the ways were used for.

    A goal that is disallowed before anybody saw it three times is told to nobody.
    """
    names = {Way.MAIL: "by mail", Way.CHAT: "in chats", Way.PUSH: "on phones"}
    gone = {
        way: told_and_gone if taken_back is None else taken_back * people
        for way, told_and_gone in counted.told_and_gone.items()
    }
    return (
        Finding(name="goals in inboxes", expected=goals * people, found=counted.inbox),
        *(
            Finding(name=f"goals told {words}", expected=goals * people, found=counted.told[way])
            for way, words in names.items()
        ),
        *(
            Finding(name=f"goals taken back {words}", expected=gone[way], found=counted.taken_back[way])
            for way, words in names.items()
        ),
        Finding(name="copies that the ledger denies", expected=0, found=counted.denied),
    )
