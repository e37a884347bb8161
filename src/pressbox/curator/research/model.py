"""The researcher that asks a language model: every answer is paid for once and kept in the ledger."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from pressbox.curator.models.domain import estimate_tokens
from pressbox.curator.models.ports import Feature, PaidModel, Question, UnusableAnswerError
from pressbox.curator.research.domain.extracts import Span, excerpt
from pressbox.curator.research.domain.report import LONGEST_REPORT, check_citations
from pressbox.curator.research.domain.research import Material, Note, ResearchMethod, Source
from pressbox.curator.research.ports import ResearcherReply
from pressbox.curator.research.prompt import (
    AGAIN,
    CHECK,
    PLAN,
    PROMPT_VERSION,
    READ,
    WRITE,
    Notes,
    Part,
    Questions,
    asked_part,
    hash_of,
    material,
    question_part,
    read_json,
    source_parts,
    task,
    text_part,
)

LONGEST_TEXT = 12_000
LONGEST_NOTES = 16_000
PLAN_TOKENS, READ_TOKENS, CHECK_TOKENS = 400, 1_200, 300
UNUSABLE = "The model gave an answer that cannot be used, twice."


@dataclass(frozen=True)
class _Said:
    """`text` is None when it could not be used, twice."""

    text: str | None
    tokens: int


class ModelResearcher:
    def __init__(self, model: PaidModel) -> None:
        self._model = model

    @property
    def method(self) -> ResearchMethod:
        return ResearchMethod.LLM

    @property
    def model(self) -> str:
        return self._model.name

    async def plan(self, user_id: int, question: str) -> ResearcherReply:
        return await self._questions(PLAN, (question_part(question),), PLAN_TOKENS)

    async def read(
        self, question: str, asked: Sequence[str], material: Material, text: str, spans: Sequence[Span]
    ) -> ResearcherReply:
        # What is searched for changes with every round and would make each article new work.
        parts = (question_part(question), text_part(material, excerpt(text, spans, LONGEST_TEXT)))
        said = await self._ask(READ, parts, READ_TOKENS, _in_form(Notes), material)
        answer = read_json(said.text, Notes) if said.text is not None else None
        if not isinstance(answer, Notes):
            return ResearcherReply(tokens=said.tokens, usable=False, reason=UNUSABLE)
        return ResearcherReply(notes=answer.as_notes(), tokens=said.tokens)

    async def check(
        self, question: str, asked: Sequence[str], noted: Sequence[tuple[Source, tuple[Note, ...]]]
    ) -> ResearcherReply:
        parts = (question_part(question), asked_part(asked), *source_parts(noted, LONGEST_NOTES, quotes=False))
        return await self._questions(CHECK, parts, CHECK_TOKENS)

    async def write(
        self, question: str, noted: Sequence[tuple[Source, tuple[Note, ...]]], most_tokens: int
    ) -> ResearcherReply:
        parts = (question_part(question), *source_parts(noted, LONGEST_NOTES, quotes=True))
        sources = [source for source, _ in noted]

        def cites(text: str) -> bool:
            return bool(check_citations(text, sources).cited)

        said = await self._ask(WRITE, parts, most_tokens, cites)
        return ResearcherReply(
            text=(said.text or "")[:LONGEST_REPORT], tokens=said.tokens, usable=said.text is not None
        )

    async def _questions(self, kind: str, parts: Sequence[Part], most_tokens: int) -> ResearcherReply:
        said = await self._ask(kind, parts, most_tokens, _in_form(Questions))
        answer = read_json(said.text, Questions) if said.text is not None else None
        if not isinstance(answer, Questions):
            return ResearcherReply(tokens=said.tokens, usable=False, reason=UNUSABLE)
        return ResearcherReply(questions=tuple(answer.questions), tokens=said.tokens)

    async def _ask(
        self,
        kind: str,
        parts: Sequence[Part],
        most_tokens: int,
        usable: Callable[[str], bool],
        about: Material | None = None,
    ) -> _Said:
        """Once, and once more when the answer is of no use."""
        spent = 0
        for version, more in ((PROMPT_VERSION, ""), (f"{PROMPT_VERSION}-again", AGAIN)):
            mark = secrets.token_hex(8)
            question = Question(
                feature=Feature.RESEARCH,
                prompt_version=version,
                content_hash=hash_of(kind, parts),
                instructions=task(kind, mark) + more,
                material=material(parts, mark),
                most_tokens=most_tokens,
                entry_id=about.entry_id if about else None,
                feed_id=about.feed_id if about else None,
            )
            try:
                reply = await self._model.ask(question, usable=usable)
            except UnusableAnswerError:
                # It was paid; how much is only in the ledger.
                spent += estimate_tokens(question.instructions, question.material)
                continue
            # What was bought for another run, or before a crash, costs this one nothing.
            return _Said(reply.text, spent + (reply.tokens_in + reply.tokens_out if reply.bought else 0))
        return _Said(None, spent)


def _in_form(form: type[BaseModel]) -> Callable[[str], bool]:
    return lambda said: read_json(said, form) is not None
