"""The effects of finding out what entries are about, and what they need. Contexts wait in the object store."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import TypeAdapter
from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import NotFoundError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import BOUNDED, QUICK
from pressbox.curator.context.contracts import (
    EntryFacts,
    EntryReference,
    ExtractContextInput,
    ExtractedContext,
    SaveContextInput,
    SavedContext,
    SavedLinks,
    context_key,
)
from pressbox.curator.context.domain import ContextLink, ContextMethod, EntityKind, EntryContext
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.models.waiting import UNAVAILABLE, retry_later
from pressbox.curator.text.plain_text import shorten


@dataclass(frozen=True)
class ContextSource:
    """The whole text of an entry (filtered, else full, else the feed's), and its HTML for the links."""

    entry_id: int
    feed_id: int
    title: str
    url: str
    text: str
    html: str
    language: str
    content_hash: str


class ContextExtractor(Protocol):
    """Finds out what an entry is about. A model that is away raises, see `ports/models.py`."""

    async def extract(self, source: ContextSource) -> EntryContext: ...


class Contexts(Protocol):
    async def source(self, entry_id: int) -> ContextSource | None:
        """None when the entry is gone or has no text."""
        ...

    async def of(self, entry_ids: Sequence[int]) -> Mapping[int, EntryContext]:
        """Those that have one, of whatever text; compare its `content_hash`."""
        ...

    async def save(self, context: EntryContext, now: datetime) -> bool:
        """With its links. False when the entry is gone or has another text by now."""
        ...


class Links(Protocol):
    """The links of an article's HTML; CPU work, off the event loop."""

    async def find(self, html: str, url: str) -> Sequence[ContextLink]: ...


class EntryLinks(Protocol):
    async def save_links(self, entry_id: int, links: Sequence[ContextLink]) -> bool:
        """These and no others. False when the entry is gone."""
        ...


CONTEXT = TypeAdapter(EntryContext)
# More would fill a panel with cards, and the hour's requests to GitHub with them.
MOST_SOFTWARE = 4


@dataclass(frozen=True)
class ContextMaker:
    """How contexts are made now: one that was made in another way is made anew."""

    method: ContextMethod
    model: str
    prompt_version: str

    def matches(self, context: EntryContext) -> bool:
        if self.method is ContextMethod.OFFLINE and context.method is ContextMethod.LLM:
            # What a model found in this text is not made worse by rules.
            return True
        return (context.method, context.model, context.prompt_version) == (self.method, self.model, self.prompt_version)


class ContextActivities:
    def __init__(
        self,
        contexts: Contexts,
        extractor: ContextExtractor,
        objects: ObjectStore,
        links: Links,
        entry_links: EntryLinks,
        way: ContextMaker,
        now: Clock = utc_now,
    ) -> None:
        self._contexts = contexts
        self._extractor = extractor
        self._objects = objects
        self._links = links
        self._entry_links = entry_links
        self._way = way
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def get_entry(self, input: EntryReference) -> EntryFacts:
        """Its facts, and never its text."""
        source = await self._contexts.source(input.entry_id)
        if source is None:
            return EntryFacts(entry_id=input.entry_id, found=False)
        context = (await self._contexts.of([input.entry_id])).get(input.entry_id)
        known = context is not None and context.content_hash == source.content_hash and self._way.matches(context)
        return EntryFacts(
            entry_id=source.entry_id,
            found=True,
            title=shorten(source.title),
            content_hash=source.content_hash,
            characters=len(source.text),
            known=known,
            software=list_software(context) if known and context is not None else (),
        )

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def extract_entry_context(self, input: ExtractContextInput) -> ExtractedContext:
        """The whole text, whatever its length. What a model was paid for before a crash is in the ledger."""
        source = await self._contexts.source(input.entry_id)
        if source is None:
            return ExtractedContext()
        async with Heartbeat():
            try:
                context = await self._extractor.extract(source)
            except UNAVAILABLE as error:
                retry_at, reason = retry_later(error, input.policy, self._now())
                return ExtractedContext(retry_at=retry_at, reason=reason)
            key = context_key(input.entry_id, _short_hash(source.content_hash))
            await self._objects.put(key, CONTEXT.dump_json(context))
        return ExtractedContext(key=key, entities=len(context.entities))

    @activity.defn
    @call_with(QUICK)
    async def save_entry_context(self, input: SaveContextInput) -> SavedContext:
        """Not of a text that is another one by now: that one is found again, and asked for again."""
        try:
            context = CONTEXT.validate_json(await self._objects.get(input.key))
        except NotFoundError:
            # An attempt before this one saved it, and died before it could say so.
            return await self._load_saved(input.entry_id)
        saved = await self._contexts.save(context, self._now())
        await self._objects.delete(input.key)
        return SavedContext(saved=saved, software=list_software(context) if saved else ())

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def save_entry_links(self, input: EntryReference) -> SavedLinks:
        source = await self._contexts.source(input.entry_id)
        if source is None:
            return SavedLinks(links=0)
        found = await self._links.find(source.html, source.url)
        await self._entry_links.save_links(input.entry_id, found)
        return SavedLinks(links=len(found))

    async def _load_saved(self, entry_id: int) -> SavedContext:
        context = (await self._contexts.of([entry_id])).get(entry_id)
        return SavedContext(saved=context is not None, software=() if context is None else list_software(context))


def list_software(context: EntryContext) -> tuple[str, ...]:
    named: Sequence[str] = [entity.name for entity in context.entities if entity.kind is EntityKind.SOFTWARE]
    return tuple(shorten(name) for name in named[:MOST_SOFTWARE])


def _short_hash(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:12]
