"""What is judged, in PostgreSQL: answers with passages, reports with quotes, summaries with their texts."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from pressbox.curator.ask.rows import AnswerRow, ResearchRunRow
from pressbox.curator.evaluate.domain.evaluation import LONGEST_TEXT, Judged, SubjectKind, bounded
from pressbox.curator.library.rows import EntryBodyRow, EntryRow, ModelCallRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.models.ports import Feature
from pressbox.curator.research.prompt import PROMPT_VERSION as RESEARCH_PROMPT

# What a summary answers. The title is a stranger's: it goes to models as data, like the rest.
ASKED_OF_A_SUMMARY = "What does the article “{title}” say?"
_LONGEST_TITLE = 300


class SqlSubjects(SqlStore):
    """Only what a model wrote is judged: passages and extracts are word for word what somebody else wrote."""

    async def answer(self, answer_id: int) -> Judged | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(AnswerRow, answer_id)
        if row is None or not row.model or row.finished_at is None:
            return None
        return Judged(
            SubjectKind.ANSWER,
            row.id,
            row.question,
            row.text[:LONGEST_TEXT],
            bounded(texts_of(row.passages)),
            row.model,
            row.prompt_version,
        )

    async def research(self, run_id: int) -> Judged | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(ResearchRunRow, run_id)
        if row is None or not row.model or not row.report:
            return None
        # A report is judged right after it was written: by the prompts of today.
        return Judged(
            SubjectKind.RESEARCH,
            row.id,
            row.question,
            row.report[:LONGEST_TEXT],
            bounded(texts_of(row.sources)),
            row.model,
            RESEARCH_PROMPT,
        )

    async def summary(self, entry_id: int) -> Judged | None:
        text = func.coalesce(func.nullif(EntryBodyRow.content_text, ""), EntryBodyRow.filtered_content)
        # The ledger knows by which prompt the summary was made; an extract was never paid for.
        version = (
            select(ModelCallRow.prompt_version)
            .where(
                ModelCallRow.content_hash == EntryRow.distilled_hash,
                ModelCallRow.model == EntryRow.distil_model,
                ModelCallRow.feature == Feature.DISTIL,
            )
            .order_by(ModelCallRow.at.desc())
            .limit(1)
            .scalar_subquery()
        )
        statement = (
            select(EntryRow.title, EntryRow.summary, text, EntryRow.distil_model, version, EntryRow.language)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(EntryRow.id == entry_id, EntryRow.summary != "", EntryRow.distilled_hash == EntryRow.content_hash)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        if found is None or found[4] is None:
            return None
        title, summary, whole, model, prompt_version, language = found
        return Judged(
            SubjectKind.SUMMARY,
            entry_id,
            ASKED_OF_A_SUMMARY.format(title=" ".join(title.split())[:_LONGEST_TITLE]),
            summary[:LONGEST_TEXT],
            bounded((whole,)),
            model,
            prompt_version,
            language,
            entry_id,
        )


def texts_of(stored: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A passage is a text; a source of a report is the places of it that were quoted."""
    return tuple(text for one in stored for text in (one.get("text"), *_quotes(one)) if isinstance(text, str) and text)


def _quotes(source: Mapping[str, Any]) -> Sequence[Any]:
    quotes = source.get("quotes")
    return [quote.get("text") for quote in quotes] if isinstance(quotes, list) else ()
