"""The context extractor behind a language model: the whole text piece by piece, each paid for once."""

import hashlib
import secrets
from dataclasses import replace

from pressbox.core.errors import PermanentError
from pressbox.curator.context.domain.context import ContextMethod, EntryContext
from pressbox.curator.context.domain.merging import PieceContext, keep_supported, merge_pieces, split_pieces
from pressbox.curator.context.ports import ContextExtractor, ContextSource
from pressbox.curator.context.prompt import MOST_TOKENS, PROMPT_VERSION, material, read, task, usable
from pressbox.curator.models.ports import Feature, PaidModel, Question, UnusableAnswerError

TRIES = 2


class ModelContextExtractor:
    """Links and language come from `offline`: a model is not asked for what the text has for certain."""

    def __init__(self, model: PaidModel, offline: ContextExtractor) -> None:
        self._model = model
        self._offline = offline

    async def extract(self, source: ContextSource) -> EntryContext:
        rules = await self._offline.extract(source)
        said = [keep_supported(await self._ask(source, piece), piece) for piece in split_pieces(source.text)]
        whole = merge_pieces(said)
        return replace(
            rules,
            method=ContextMethod.LLM,
            model=self._model.name,
            prompt_version=PROMPT_VERSION,
            domain=whole.domain,
            content_type=whole.content_type,
            entities=whole.entities,
            relationships=whole.relationships,
            key_points=whole.key_points or rules.key_points,
        )

    async def _ask(self, source: ContextSource, piece: str) -> PieceContext:
        for attempt in range(TRIES):
            mark = secrets.token_hex(8)
            question = Question(
                feature=Feature.CONTEXT,
                prompt_version=PROMPT_VERSION,
                content_hash=_hash(source.title, piece),
                instructions=task(mark, again=attempt > 0),
                material=material(source.title, piece, mark),
                most_tokens=MOST_TOKENS,
                entry_id=source.entry_id,
                feed_id=source.feed_id,
            )
            try:
                reply = await self._model.ask(question, usable=usable)
            except UnusableAnswerError:
                if attempt + 1 == TRIES:
                    raise
                continue
            said = read(reply.text)
            if said is not None:
                return said
        raise PermanentError(f"{self._model.name} does not answer in the form that is asked for.")


def _hash(*parts: str) -> str:
    joined = "\x1f".join(parts).encode(errors="replace")
    return hashlib.md5(joined, usedforsecurity=False).hexdigest()
