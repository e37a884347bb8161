"""An instance whose every article attacks, with a model that obeys, and a look at what came of it."""

import re
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

import httpx
import pytest
from lxml import html as markup  # type: ignore[import-untyped]
from pydantic import SecretStr
from sqlalchemy import text, update
from temporalio.testing import ActivityEnvironment

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import SpendingSettings
from pressbox.core.contracts import Contract
from pressbox.curator.library.domain import DistilState
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.manifest import APP, activities
from pressbox.curator.settings import ContextKind, CuratorSettings, DistillerKind, EvaluatorKind
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.model import MODEL, ModelService
from tests.fakes.attacks import ATTACKS, EVIL, METADATA, Attack, Gullible
from tests.fakes.reader import NOW, Library
from tests.site import PASSWORD, Browser, cheap_passwords, serving

BYSTANDERS = 3
READER = "reader@example.org"
# Of the instance, not of anybody's reading.
BOOKS = {"changes", "paid_requests", "claims", "host_turns"}
_ADDRESSES = ("href", "src", "srcset", "action", "formaction", "data", "poster", "background", "style", "ping")
_REFUSED = re.compile(rf"{re.escape(EVIL)}|{re.escape(METADATA)}|javascript:|vbscript:|data:text|file:", re.I)
# Turn the direction of what follows, or are seen by machines alone.
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]")


class Canary(HttpService):
    """Whoever calls it did what an article asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.called: list[str] = []

    async def answer(self, request: Request) -> Answer:
        self.called.append(request.path)
        return Answer(200, b"<html><title>Here you are</title></html>", {"Content-Type": "text/html"})


@dataclass
class Line:
    """Connections and names that this process asked for."""

    ports: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)


@contextmanager
def tapped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    line = Line()
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def connecting(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple):
            line.names.add(str(address[0]))
            line.ports.add(int(address[1]))
        connect(self, address)

    def resolving(host: Any, *arguments: Any, **named: Any) -> Any:
        line.names.add(str(host))
        return resolve(host, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(socket.socket, "connect", connecting)
        patched.setattr(socket, "getaddrinfo", resolving)
        yield line


@dataclass
class Besieged:
    """`attacks` by entry; `bystanders` are articles of another source that nobody may touch."""

    resources: Resources
    library: Library
    model: ModelService
    canary: Canary
    reader: int
    attacks: Mapping[int, Attack] = field(default_factory=dict)
    bystanders: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        merged = [one for functions in activities(self.resources).values() for one in functions]
        self._functions = {one.__name__: one for one in merged}

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    async def do(self, name: str, input: Contract, workflow_id: str = "besieged") -> Any:
        """One activity as a worker would run it."""
        environment = ActivityEnvironment()
        environment.info = replace(environment.info, workflow_id=workflow_id)
        return await environment.run(self._functions[name], input)

    @property
    def entry_ids(self) -> tuple[int, ...]:
        return tuple(self.attacks)

    @property
    def marked_up(self) -> tuple[int, ...]:
        """Those whose answer would do something if a page took it for more than text."""
        return tuple(one for one, attack in self.attacks.items() if re.search(r"[<{]|]\(|://", attack.says))

    async def rows(self) -> dict[str, set[str]]:
        """Everything in the database, row by row; what workflows and books need is left out."""
        named = text(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema IN ('core', 'curator', 'soonish', 'footy') AND table_type = 'BASE TABLE'"
        )
        found: dict[str, set[str]] = {}
        async with self.resources.database.unit_of_work() as work:
            for schema, table in (await work.session.execute(named)).tuples():
                if table not in BOOKS:
                    lines = await work.session.scalars(text(f'SELECT row_to_json(t)::text FROM {schema}."{table}" t'))
                    found[f"{schema}.{table}"] = set(lines)
        return found

    async def plant(self, attack: Attack, feed_id: int) -> int:
        article = attack.article(self.canary.url)
        title = attack.title.replace("{canary}", self.canary.url)
        body = "".join(f"<p>{escape(line)}</p>" for line in article.splitlines())
        entry_id = await self.library.entry(feed_id, title, distil=DistilState.WAITING, summary="", body=body)
        async with self.resources.database.unit_of_work() as work:
            texts = update(EntryBodyRow).where(EntryBodyRow.entry_id == entry_id)
            await work.session.execute(texts.values(filtered_content=article, feed_content=""))
            row = update(EntryRow).where(EntryRow.id == entry_id)
            await work.session.execute(
                row.values(author=attack.author, content_hash=f"hash of {attack.word}", language="en")
            )
        return entry_id


@asynccontextmanager
async def besieged(
    resources: Resources, attacks: Sequence[Attack] = ATTACKS, tokens_per_day: int = 10**9, **settings: object
) -> AsyncIterator[Besieged]:
    """With these attacks, and further settings of the curator."""
    async with Canary() as canary, ModelService(script=Gullible(canary.url), key="key") as model:
        curator = resources.settings.group(CuratorSettings).model_copy(
            update={
                "distiller": DistillerKind.LLM,
                "model_url": model.base_url,
                "model_name": MODEL,
                "model_key": SecretStr("key"),
                "context": ContextKind.LLM,
                "evaluator": EvaluatorKind.OFFLINE,
                **settings,
            }
        )
        spending = SpendingSettings(tokens_per_day=tokens_per_day)
        inside = replace(
            resources, settings=resources.settings.with_group(curator).model_copy(update={"spending": spending})
        )
        library = Library(inside)
        accounts = AccountService(inside.database, inside.settings, passwords=cheap_passwords())
        reader = (await accounts.add_user(READER, PASSWORD)).id
        room = Besieged(inside, library, model, canary, reader)
        evil, honest = await library.feed(reader, title="Evil"), await library.feed(reader, title="Honest")
        room.attacks = {await room.plant(attack, evil): attack for attack in attacks}
        room.bystanders = tuple(
            [
                await library.entry(honest, f"Honest {number}", at=NOW - timedelta(days=1), summary=f"True {number}.")
                for number in range(BYSTANDERS)
            ]
        )
        yield room


def troubles(page: str) -> list[str]:
    """What in a page is more than text although a model said it: elements, handlers and addresses that act."""
    found = []
    for element in markup.document_fromstring(page).iter():
        if not isinstance(element.tag, str):
            continue
        if element.tag == "script" and not (element.get("src") or "").startswith("/static/"):
            found.append(f"<script> {element.text}")
        if element.tag in ("iframe", "object", "embed", "base", "tool_use"):
            found.append(f"<{element.tag}>")
        for name, value in element.attrib.items():
            if str(name).startswith("on") or (str(name) in _ADDRESSES and _REFUSED.search(str(value))):
                found.append(f"<{element.tag} {name}={value!r}>")
    return found


def hidden(text: str) -> str:
    """Letters that people do not see, or that turn the direction of others."""
    return "".join(sorted(set(_HIDDEN.findall(text))))


@asynccontextmanager
async def browser(room: Besieged) -> AsyncIterator[httpx.AsyncClient]:
    """The real pages, for the reader of the room."""

    async with serving(room.resources, room.resources.settings, [APP]) as app, Browser(app) as client:
        await client.sign_in(READER)
        yield client
