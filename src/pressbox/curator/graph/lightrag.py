"""The graph kept by LightRAG, which reads texts itself with the model of the settings.

LightRAG merges what all texts say, in storages of its own; what each single entry said is kept in PostgreSQL beside
it, so that pages, asking and research see of it what a person may see, with its entry. A folder has one writer at a
time. LightRAG keeps state of its folders for the whole process, so each batch opens them anew and closes them.
"""

import asyncio
import hashlib
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pressbox.core.errors import ConfigurationError, PressboxError, TransientError
from pressbox.core.models.client import PaidModel, Question
from pressbox.curator.context.activities import ContextSource
from pressbox.curator.context.domain import (
    ContextMethod,
    Entity,
    EntityKind,
    EntryContext,
    Relationship,
    entity_key,
)
from pressbox.curator.graph.activities import Addition, GraphDocument
from pressbox.curator.graph.lightrag_library import Library, exclusive_writer, library
from pressbox.curator.graph.store import PostgresGraph
from pressbox.curator.models.domain import Feature
from pressbox.curator.models.waiting import UNAVAILABLE
from pressbox.curator.search.ports import Embedder

NO_MODEL = (
    "The graph lightrag needs PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME. "
    "Set them, or PRESSBOX_CURATOR_GRAPH=postgres."
)
NOT_TAKEN = "LightRAG could not take it in."
# As much as the rows of one piece of a text need.
MOST_TOKENS = 4_000
LONGEST_INPUT_TOKENS = 8_192


class LightRagGraph:
    """`storage` is LightRAG's name of its graph storage; Memgraph's address is in LightRAG's own environment."""

    wants_contexts = False

    def __init__(
        self, folder: Path, own: PostgresGraph, model: PaidModel | None, embedder: Embedder, storage: str
    ) -> None:
        self._folder = folder
        self._own = own
        self._model = model
        self._embedder = embedder
        self._storage = storage

    async def add(self, documents: Sequence[GraphDocument], generation: int = 0) -> Sequence[Addition]:
        """One after the other: whose call it is then known to the ledger. A model that is away is raised."""
        model = self._demand_model()
        told: dict[int, Addition] = {}
        async with exclusive_writer(self._folder):
            for number in await self._own.generations(generation):
                async with self._open(workspace(number), model) as rag:
                    for one in documents:
                        taken = await self._take(rag, one.source, number)
                        # What one of them lacks is not in.
                        told[taken.entry_id] = max(taken, told.get(taken.entry_id, taken), key=_is_refused)
        return list(told.values())

    async def begin_generation(self) -> int:
        return await self._own.begin_generation()

    async def swap(self, generation: int) -> None:
        await self._own.swap(generation)
        async with exclusive_writer(self._folder):
            kept = {workspace(number) for number in await self._own.generations(0)}
            for path in await asyncio.to_thread(_workspaces, self._folder):
                if path.name not in kept:
                    await self._remove(path)

    async def prune(self) -> int:
        """In PostgreSQL, and LightRAG's texts of entries that are gone."""
        removed = await self._own.prune()
        if self._model is None or not await asyncio.to_thread(self._folder.exists):
            return removed
        async with exclusive_writer(self._folder):
            for number in await self._own.generations(0):
                async with self._open(workspace(number), self._model) as rag:
                    for entry_id in await self._own.find_deleted(await rag.entries()):
                        await rag.forget(entry_id)
                        removed += 1
        return removed

    async def _take(self, rag: "_OpenGraph", source: ContextSource, generation: int) -> Addition:
        context = await rag.insert(source)
        if context is None:
            return Addition(source.entry_id, source.content_hash, rag.trouble)
        (kept,) = await self._own.add([GraphDocument(source, context)], generation) or (
            Addition(source.entry_id, source.content_hash, "Its text changed meanwhile."),
        )
        return kept

    @asynccontextmanager
    async def _open(self, name: str, model: PaidModel) -> AsyncIterator["_OpenGraph"]:
        (probe,) = await self._embedder.embed(["How many dimensions?"])
        used = await asyncio.to_thread(library)
        opened = _OpenGraph(used, model, self._embedder)
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        await opened.begin(self._folder, name, self._storage, len(probe))
        try:
            yield opened
        finally:
            await opened.end()

    def _demand_model(self) -> PaidModel:
        if self._model is None:
            raise ConfigurationError(NO_MODEL)
        return self._model

    async def _remove(self, path: Path) -> None:
        """A graph in Memgraph is not in the folder."""
        async with self._open(path.name, self._demand_model()) as rag:
            await rag.drop()
        await asyncio.to_thread(shutil.rmtree, path)


class _OpenGraph:
    """One LightRAG on one generation. It answers to nobody but the one text that is being read."""

    def __init__(self, used: Library, model: PaidModel, embedder: Embedder) -> None:
        self._used = used
        self._model = model
        self._embedder = embedder
        self._source: ContextSource | None = None
        self._answers: list[str] = []
        self._trouble: PressboxError | None = None
        self._rag: Any = None

    async def begin(self, folder: Path, workspace: str, storage: str, dimensions: int) -> None:
        self._rag = self._used.make(
            folder,
            workspace,
            storage,
            ask=self._ask,
            embed=self._embed,
            dimensions=dimensions,
            model=self._model.name,
            embedding_model=self._embedder.model,
            longest_input=LONGEST_INPUT_TOKENS,
        )
        await self._rag.initialize_storages()

    async def end(self) -> None:
        await self._rag.finalize_storages()
        # Otherwise the process would go on with what it remembers, whatever another one wrote meanwhile.
        self._used.forget()

    async def drop(self) -> None:
        """All of its graph."""
        await self._rag.chunk_entity_relation_graph.drop()

    async def insert(self, source: ContextSource) -> EntryContext | None:
        """None when LightRAG failed on it. Its pipeline swallows errors: what became of a text is in its status."""
        await self.forget(source.entry_id)
        self._source, self._answers, self._trouble = source, [], None
        name = document_id(source.entry_id)
        # The same article in two feeds is two entries; LightRAG would refuse the second text.
        text = f"[{name}] {source.title}\n\n{source.text}"
        await self._rag.ainsert(text, ids=name, file_paths=name)
        status = (await self._rag.aget_docs_by_ids([name])).get(name)
        if self._used.is_processed(status):
            return self._context(source)
        # It must go, or LightRAG would try it again with the next text and in that one's name.
        await self.forget(source.entry_id)
        if isinstance(self._trouble, UNAVAILABLE):
            raise self._trouble
        return None

    @property
    def trouble(self) -> str:
        return self._trouble.message if self._trouble else NOT_TAKEN

    async def forget(self, entry_id: int) -> None:
        name = document_id(entry_id)
        if name not in await self._rag.aget_docs_by_ids([name]):
            return
        result = await self._rag.adelete_by_doc_id(name, delete_llm_cache=True)
        if result.status not in ("success", "not_found"):
            raise TransientError("LightRAG could not remove an older text of an entry.", entry_id=entry_id)

    async def entries(self) -> Sequence[int]:
        """Those whose texts it has."""
        known = await self._rag.doc_status.get_docs_by_statuses(self._used.all_statuses())
        return [int(name.removeprefix(PREFIX)) for name in known if name.removeprefix(PREFIX).isdecimal()]

    def _context(self, source: ContextSource) -> EntryContext:
        entities, relationships = parse_rows(self._answers, source.text)
        return EntryContext(
            source.entry_id,
            source.content_hash,
            ContextMethod.LLM,
            model=self._model.name,
            prompt_version=self._used.version,
            entities=entities,
            relationships=relationships,
        )

    async def _ask(self, prompt: str, system_prompt: str | None = None, **_: object) -> str:
        """LightRAG's own words are the instructions; the text of the article is only in the prompt."""
        source, instructions = self._source, system_prompt or ""
        digest = hashlib.sha256(f"{instructions}\x1f{prompt}".encode()).hexdigest()
        question = Question(
            Feature.GRAPH,
            self._used.version,
            digest,
            instructions,
            prompt,
            MOST_TOKENS,
            entry_id=source.entry_id if source else None,
            feed_id=source.feed_id if source else None,
        )
        try:
            reply = await self._model.ask(question)
        except PressboxError as error:
            self._trouble = error
            raise
        self._answers.append(reply.text)
        return reply.text

    async def _embed(self, texts: list[str]) -> Any:
        return self._used.matrix(await self._embedder.embed(texts))


def _is_refused(one: Addition) -> bool:
    return bool(one.reason)


def _workspaces(folder: Path) -> Sequence[Path]:
    return [path for path in folder.glob(f"{GENERATION}*") if path.is_dir()]


PREFIX, GENERATION = "entry-", "generation"


def document_id(entry_id: int) -> str:
    return f"{PREFIX}{entry_id}"


def workspace(generation: int) -> str:
    return f"{GENERATION}{generation}"


FIELD = "<|#|>"
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
ENTITY_FIELDS = 4
RELATION_FIELDS = 5
# LightRAG's kinds, where we have one like it.
KINDS = {
    "person": EntityKind.PERSON,
    "organization": EntityKind.ORGANISATION,
    "location": EntityKind.PLACE,
    "event": EntityKind.EVENT,
    "concept": EntityKind.CONCEPT,
    "artifact": EntityKind.PRODUCT,
}


def parse_rows(answers: Sequence[str], text: str) -> tuple[tuple[Entity, ...], tuple[Relationship, ...]]:
    """Rows that are none are left out, as LightRAG leaves them out."""
    rows = [[part.strip() for part in line.split(FIELD)] for answer in answers for line in answer.splitlines()]
    sentences = [one.strip() for one in _ENDS.split(text) if one.strip()]
    entities = tuple(
        Entity(row[1], KINDS.get(row[2].casefold(), EntityKind.OTHER), row[3], _quote(sentences, row[1]))
        for row in rows
        if row[0].casefold() == "entity" and len(row) == ENTITY_FIELDS
    )
    relationships = tuple(
        Relationship(row[1], row[2], row[3].split(",")[0], _quote(sentences, row[1], row[2]))
        for row in rows
        if row[0].casefold() == "relation" and len(row) == RELATION_FIELDS
    )
    return entities, relationships


def _quote(sentences: Sequence[str], *names: str) -> str:
    """The first sentence that names them all; without one nothing is quoted."""
    keys = [entity_key(name) for name in names]
    return next((one for one in sentences if all(key in entity_key(one) for key in keys)), "")
