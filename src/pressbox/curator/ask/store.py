"""Conversations and answers in PostgreSQL. An answer grows here, so that every web process can show it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    Select,
    Text,
    UniqueConstraint,
    delete,
    exists,
    func,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.quotas.store import demand
from pressbox.curator.ask.domain import (
    OPEN,
    AnswerMethod,
    AnswerState,
    AnswerTask,
    AnswerView,
    ConversationLine,
    ConversationView,
    Ending,
    Turn,
    title_of,
)
from pressbox.curator.evaluate.domain import LONGEST_TEXT, Judged, SubjectKind, limit_contexts
from pressbox.curator.library.domain import ANSWER_CHANGED, PERSON_CHANGED
from pressbox.curator.library.quotas import QUESTIONS
from pressbox.curator.library.rows import SCHEMA, EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore, demand_visible, visible_to
from pressbox.curator.search.domain.passages import Passage


class ConversationRow(Base):
    """A person's questions that belong together, over one entry or over everything they read."""

    __tablename__ = "conversations"
    __table_args__ = (Index(None, "user_id", "updated_at"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    # When the entry is cleaned up, what was asked and answered about it stays.
    entry_id: Mapped[int | None] = mapped_column(ForeignKey("curator.entries.id", ondelete="SET NULL"), index=True)
    title: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class AnswerRow(Base):
    """A question and its answer, which grows while it is written. `passages` is what it stands on, in order."""

    __tablename__ = "answers"
    __table_args__ = (UniqueConstraint("conversation_id", "position"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    conversation_id: Mapped[int] = mapped_column(ForeignKey("curator.conversations.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(Integer)
    question: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    # Who answered: a model, or nobody, and the passages are the answer.
    method: Mapped[str] = mapped_column(Text, server_default="")
    model: Mapped[str] = mapped_column(Text, server_default="")
    prompt_version: Mapped[str] = mapped_column(Text, server_default="")
    text: Mapped[str] = mapped_column(Text, server_default="")
    passages: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    reason: Mapped[str] = mapped_column(Text, server_default="")
    trace_id: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


PASSAGES = TypeAdapter(tuple[Passage, ...])
# How many answers of a conversation are shown and remembered.
MOST_ANSWERS = 100
NO_CONVERSATION = "You have no such conversation."
NO_ANSWER = "You have no such answer."
_OPEN = sorted(state.value for state in OPEN)


class SqlAnswers(SqlStore):
    async def load_task(self, answer_id: int) -> AnswerTask | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(AnswerRow, answer_id)
            if row is None:
                return None
            conversation = await work.session.get(ConversationRow, row.conversation_id)
            if conversation is None:
                return None
            earlier = (
                select(AnswerRow.question, AnswerRow.text)
                .where(AnswerRow.conversation_id == row.conversation_id, AnswerRow.position < row.position)
                .where(AnswerRow.state == AnswerState.DONE)
                .order_by(AnswerRow.position)
            )
            turns = tuple(Turn(*found) for found in (await work.session.execute(earlier)).tuples())
        return AnswerTask(
            answer_id=row.id,
            user_id=conversation.user_id,
            entry_id=conversation.entry_id,
            question=row.question,
            state=AnswerState(row.state),
            passages=PASSAGES.validate_python(row.passages),
            turns=turns,
        )

    async def save_passages(self, answer_id: int, passages: Sequence[Passage]) -> bool:
        return await self._change(answer_id, passages=PASSAGES.dump_python(tuple(passages), mode="json"))

    async def save_text(self, answer_id: int, text: str) -> bool:
        return await self._change(answer_id, state=AnswerState.WRITING, text=text, reason="")

    async def wait(self, answer_id: int, reason: str) -> bool:
        return await self._change(answer_id, state=AnswerState.WAITING, text="", reason=reason)

    async def finish(self, answer_id: int, ending: Ending, now: datetime) -> bool:
        return await self._change(
            answer_id,
            state=ending.state,
            method=ending.method or "",
            text=ending.text,
            reason=ending.reason,
            model=ending.model,
            prompt_version=ending.prompt_version,
            trace_id=ending.trace_id,
            finished_at=now,
        )

    async def _change(self, answer_id: int, **values: Any) -> bool:
        """Change an answer that is still wanted: what was stopped stays stopped."""
        statement = update(AnswerRow).where(AnswerRow.id == answer_id, AnswerRow.state.in_(_OPEN)).values(**values)
        async with self._database.unit_of_work() as work:
            changed = await work.session.scalar(statement.returning(AnswerRow.id))
            if changed is not None:
                work.changed(ANSWER_CHANGED, str(answer_id))
        return changed is not None


class SqlConversations(SqlStore):
    async def add_question(
        self, user_id: int, question: str, now: datetime, *, conversation_id: int | None, entry_id: int | None
    ) -> AnswerView:
        async with self._database.unit_of_work() as work:
            await demand(work.session, QUESTIONS, user_id)
            if conversation_id is None:
                if entry_id is not None:
                    await demand_visible(work.session, user_id, entry_id)
                conversation = ConversationRow(
                    user_id=user_id, entry_id=entry_id, title=title_of(question), created_at=now, updated_at=now
                )
                work.session.add(conversation)
                await work.session.flush()
            else:
                # Locked, so that two questions at a time get two positions.
                conversation = await _load_own(work.session, user_id, conversation_id, lock=True)
                conversation.updated_at = now
            last = select(func.max(AnswerRow.position)).where(AnswerRow.conversation_id == conversation.id)
            row = AnswerRow(
                conversation_id=conversation.id,
                position=(await work.session.scalar(last) or 0) + 1,
                question=question,
                state=AnswerState.SEARCHING,
                created_at=now,
            )
            work.session.add(row)
            await work.session.flush()
            await work.session.refresh(row)
            work.changed(PERSON_CHANGED, str(user_id))
            return _view(row)

    async def reset_answer(self, user_id: int, answer_id: int) -> AnswerView:
        async with self._database.unit_of_work() as work:
            row = await _load_own_answer(work.session, user_id, answer_id, lock=True)
            if AnswerState(row.state).is_open:
                raise ConflictError("This question is already being answered.")
            await demand(work.session, QUESTIONS, user_id)
            row.state, row.text, row.reason, row.method, row.model = AnswerState.SEARCHING, "", "", "", ""
            row.passages, row.finished_at = [], None
            work.changed(ANSWER_CHANGED, str(answer_id))
            return _view(row)

    async def load_answer(self, user_id: int, answer_id: int) -> AnswerView:
        async with self._database.unit_of_work() as work:
            return _view(await _load_own_answer(work.session, user_id, answer_id))

    async def list_lines(self, user_id: int, limit: int) -> Sequence[ConversationLine]:
        statement = (
            _select_lines(user_id).order_by(ConversationRow.updated_at.desc(), ConversationRow.id.desc()).limit(limit)
        )
        async with self._database.unit_of_work() as work:
            return [ConversationLine(*found) for found in (await work.session.execute(statement)).tuples()]

    async def load(self, user_id: int, conversation_id: int) -> ConversationView:
        newest = (
            select(AnswerRow)
            .where(AnswerRow.conversation_id == conversation_id)
            .order_by(AnswerRow.position.desc())
            .limit(MOST_ANSWERS)
        )
        named = _select_lines(user_id).where(ConversationRow.id == conversation_id)
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(named)).tuples().one_or_none()
            if found is None:
                raise NotFoundError(NO_CONVERSATION)
            answers = [_view(row) for row in await work.session.scalars(newest)]
        return ConversationView(*found, answers=answers[::-1])

    async def rename(self, user_id: int, conversation_id: int, title: str) -> None:
        async with self._database.unit_of_work() as work:
            (await _load_own(work.session, user_id, conversation_id)).title = title
            work.changed(PERSON_CHANGED, str(user_id))

    async def delete(self, user_id: int, conversation_id: int) -> Sequence[int]:
        running = select(AnswerRow.id).where(AnswerRow.conversation_id == conversation_id, AnswerRow.state.in_(_OPEN))
        async with self._database.unit_of_work() as work:
            await _load_own(work.session, user_id, conversation_id, lock=True)
            left = list(await work.session.scalars(running))
            await work.session.execute(delete(ConversationRow).where(ConversationRow.id == conversation_id))
            work.changed(PERSON_CHANGED, str(user_id))
        return left

    async def stop(self, user_id: int, answer_id: int, now: datetime) -> bool:
        async with self._database.unit_of_work() as work:
            row = await _load_own_answer(work.session, user_id, answer_id, lock=True)
            if not AnswerState(row.state).is_open:
                return False
            row.state, row.finished_at, row.reason = AnswerState.STOPPED, now, ""
            work.changed(ANSWER_CHANGED, str(answer_id))
        return True

    async def load_excerpt(self, user_id: int, entry_id: int, start: int, end: int) -> str:
        statement = (
            select(func.substr(EntryBodyRow.filtered_content, start + 1, end - start))
            .join(EntryRow, EntryRow.id == EntryBodyRow.entry_id)
            .where(EntryRow.id == entry_id, visible_to(user_id))
        )
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(statement) or ""


class AnswerSubjects(SqlStore):
    """Answers that can be judged. Only a model's are: passages are word for word what somebody else wrote."""

    kind = SubjectKind.ANSWER

    async def load(self, subject_id: int) -> Judged | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(AnswerRow, subject_id)
        if row is None or not row.model or row.finished_at is None:
            return None
        passages = [passage["text"] for passage in row.passages]
        return Judged(
            kind=self.kind,
            subject_id=row.id,
            question=row.question,
            text=row.text[:LONGEST_TEXT],
            contexts=limit_contexts(passages),
            model=row.model,
            prompt_version=row.prompt_version,
        )

    def owned_by(self, user_id: int) -> Select[tuple[int]]:
        return (
            select(AnswerRow.id)
            .join(ConversationRow, ConversationRow.id == AnswerRow.conversation_id)
            .where(ConversationRow.user_id == user_id)
        )


def owns_answer(answer_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(
        AnswerRow.id == answer_id,
        ConversationRow.id == AnswerRow.conversation_id,
        ConversationRow.user_id == user_id,
    )


def _select_lines(user_id: int) -> Select[tuple[int, str, int | None, str, datetime, int]]:
    questions = (
        select(func.count()).select_from(AnswerRow).where(AnswerRow.conversation_id == ConversationRow.id)
    ).scalar_subquery()
    return (
        select(
            ConversationRow.id,
            ConversationRow.title,
            ConversationRow.entry_id,
            func.coalesce(EntryRow.title, ""),
            ConversationRow.updated_at,
            questions,
        )
        .outerjoin(EntryRow, EntryRow.id == ConversationRow.entry_id)
        .where(ConversationRow.user_id == user_id)
    )


async def _load_own(
    session: AsyncSession, user_id: int, conversation_id: int, *, lock: bool = False
) -> ConversationRow:
    statement = select(ConversationRow).where(ConversationRow.id == conversation_id, ConversationRow.user_id == user_id)
    row = await session.scalar(statement.with_for_update() if lock else statement)
    if row is None:
        raise NotFoundError(NO_CONVERSATION)
    return row


async def _load_own_answer(session: AsyncSession, user_id: int, answer_id: int, *, lock: bool = False) -> AnswerRow:
    statement = (
        select(AnswerRow)
        .join(ConversationRow, ConversationRow.id == AnswerRow.conversation_id)
        .where(AnswerRow.id == answer_id, ConversationRow.user_id == user_id)
    )
    row = await session.scalar(statement.with_for_update(of=AnswerRow) if lock else statement)
    if row is None:
        raise NotFoundError(NO_ANSWER)
    return row


def _view(row: AnswerRow) -> AnswerView:
    return AnswerView(
        id=row.id,
        conversation_id=row.conversation_id,
        question=row.question,
        state=AnswerState(row.state),
        method=AnswerMethod(row.method) if row.method else None,
        model=row.model,
        text=row.text,
        passages=PASSAGES.validate_python(row.passages),
        reason=row.reason,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )
