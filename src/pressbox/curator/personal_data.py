"""What the reader keeps of a person: everything to take along, and the end of all of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import text

from pressbox.core.app import PersonalData, Resources
from pressbox.core.spending.ledger import forget_answers
from pressbox.curator.ask.wiring import ask_service
from pressbox.curator.models.domain import PRIVATE
from pressbox.curator.research.wiring import research_service
from pressbox.curator.sources.wiring import source_service

EXPORTS = {
    "subscriptions": """
        SELECT feeds.url, feeds.title, subscriptions.title AS own_title, categories.name AS category,
               subscriptions.created_at
        FROM curator.subscriptions JOIN curator.feeds ON feeds.id = subscriptions.feed_id
        LEFT JOIN curator.categories ON categories.id = subscriptions.category_id
        WHERE subscriptions.user_id = :user_id ORDER BY subscriptions.id
    """,
    "categories": "SELECT name, position FROM curator.categories WHERE user_id = :user_id ORDER BY position, id",
    "articles": """
        SELECT entries.url, entries.title, feeds.url AS feed,
               nullif(states.read_at, to_timestamp(0)) AS read_at, states.starred_at, states.preference, states.note
        FROM curator.entry_states AS states JOIN curator.entries ON entries.id = states.entry_id
        JOIN curator.feeds ON feeds.id = entries.feed_id
        WHERE states.user_id = :user_id ORDER BY states.entry_id
    """,
    "labels": """
        SELECT labels.name, entries.url, entries.title
        FROM curator.labels LEFT JOIN curator.entry_labels ON entry_labels.label_id = labels.id
        LEFT JOIN curator.entries ON entries.id = entry_labels.entry_id
        WHERE labels.user_id = :user_id ORDER BY labels.name, entries.id
    """,
    "questions": """
        SELECT conversations.title AS conversation, answers.question, answers.text AS answer, answers.model,
               answers.created_at
        FROM curator.conversations JOIN curator.answers ON answers.conversation_id = conversations.id
        WHERE conversations.user_id = :user_id ORDER BY conversations.id, answers.position
    """,
    "research": """
        SELECT question, state, method, model, report, sources, created_at, finished_at
        FROM curator.research_runs WHERE user_id = :user_id ORDER BY id
    """,
    "app-passwords": "SELECT name, created_at, last_used_at FROM curator.app_passwords WHERE user_id = :user_id",
    "lists-as-feeds": "SELECT view, created_at, last_used_at FROM curator.view_feeds WHERE user_id = :user_id",
}
# What keeps an article or a feed although nobody else reads it.
MARKS = ("entry_states", "labels")


async def export(resources: Resources, user_id: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    async with resources.database.unit_of_work() as work:
        return {
            name: [row._asdict() for row in await work.session.execute(text(statement), {"user_id": user_id})]
            for name, statement in EXPORTS.items()
        }


async def erase(resources: Resources, user_id: int) -> Collection[str]:
    """Stop what runs for them; feeds that nobody else reads go too, their addresses may be private.

    The ledger does not say whose an answer was, so it forgets those of everybody: at most they are paid for again.
    """
    asking, research, sources = ask_service(resources), research_service(resources), source_service(resources)
    while lines := await asking.history(user_id):
        for line in lines:
            await asking.delete(user_id, line.id)
    while runs := await research.runs(user_id):
        for run in runs:
            await research.delete(user_id, run.id)
    async with resources.database.unit_of_work() as work:
        for table in MARKS:
            statement = text(f"DELETE FROM curator.{table} WHERE user_id = :user_id")  # noqa: S608
            await work.session.execute(statement, {"user_id": user_id})
        await forget_answers(work.session, PRIVATE)
    for feed in (await sources.sources(user_id)).feeds:
        await sources.unsubscribe(user_id, feed.id)
    return ()


PERSONAL_DATA = PersonalData(export, erase)
