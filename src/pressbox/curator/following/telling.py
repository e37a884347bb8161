"""Tells people of new articles, in the transaction that records that they can be found."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import Interval, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.db.database import UnitOfWork
from pressbox.core.notices.publish import publish_among
from pressbox.core.notices.rows import FollowRow
from pressbox.core.spoilers.store import load_all_guarded
from pressbox.core.spoilers.titles import GuardedMatch, has_score
from pressbox.curator.following.wording import Group, NewArticle, write_notice
from pressbox.curator.library.rows import CategoryRow, EntryRow, FeedRow, LabelRow
from pressbox.curator.library.store import feed_name
from pressbox.curator.library.subjects import SEARCH, FollowedKind, search_path

# What was seen or published longer ago is no news, whenever it is indexed.
NEWS_LIFE = timedelta(days=2)
# One statement writes so many notices; hardly ever are there more at once.
WRITTEN_AT_ONCE = 500

# Who hears of which articles, and why. A story and a label are followed for the sake of copies, so reading one does
# not matter there; of a feed nobody hears of what they read, or of what another feed that they follow brought before.
_NEWS = """
    SELECT entry.id, entry.feed_id, entry.story_id, entry.first_seen_at
    FROM curator.entries AS entry JOIN curator.feed_state AS state ON state.feed_id = entry.feed_id
    WHERE entry.id = ANY (:ids) AND least(entry.first_seen_at, entry.published_at) > now() - :life
        AND (state.first_read_at IS NULL OR entry.first_seen_at > state.first_read_at)
"""
_FIND_NEWS = text(_NEWS)
_FIND_GROUPS = text(f"""
    WITH news AS ({_NEWS}), concerned AS (
        SELECT id, 1 AS place, concat('curator.story.', story_id) AS subject FROM news WHERE story_id IS NOT NULL
        UNION
        SELECT news.id, 2, concat('curator.label.', labelled.label_id)
        FROM news JOIN curator.entries AS copy ON copy.story_id = news.story_id
        JOIN curator.entry_labels AS labelled ON labelled.entry_id = copy.id
        UNION
        SELECT id, 3, subject FROM unnest(CAST(:found AS bigint[]), CAST(:searches AS text[])) AS found (id, subject)
        UNION
        SELECT news.id, 4, concat('curator.category.', subscription.category_id)
        FROM news JOIN curator.subscriptions AS subscription ON subscription.feed_id = news.feed_id
        WHERE subscription.category_id IS NOT NULL
        UNION
        SELECT id, 5, concat('curator.feed.', feed_id) FROM news
    ), wanted AS (
        SELECT follow.user_id, follow.subject, follow.created_at, follow.muted_at, concerned.id, concerned.place
        FROM concerned JOIN core.follows AS follow ON follow.subject = concerned.subject
    ), told AS (
        SELECT DISTINCT ON (wanted.user_id, coalesce(news.story_id, -news.id))
            wanted.user_id, news.id, wanted.subject
        FROM wanted JOIN news ON news.id = wanted.id AND wanted.created_at < news.first_seen_at
        JOIN curator.subscriptions AS own ON own.user_id = wanted.user_id AND own.feed_id = news.feed_id
        WHERE NOT EXISTS (
            SELECT FROM wanted AS muted
            WHERE muted.id = news.id AND muted.user_id = wanted.user_id AND muted.muted_at IS NOT NULL
        ) AND (wanted.place < 3 OR NOT EXISTS (
            SELECT FROM curator.entry_states AS state
            WHERE state.user_id = wanted.user_id AND state.entry_id = news.id AND state.read_at IS NOT NULL
        ) AND NOT EXISTS (
            SELECT FROM curator.entries AS earlier
            JOIN curator.subscriptions AS read ON read.user_id = wanted.user_id AND read.feed_id = earlier.feed_id
            LEFT JOIN core.follows AS follow ON follow.user_id = wanted.user_id
                AND follow.subject = concat('curator.feed.', earlier.feed_id)
                AND follow.created_at < earlier.first_seen_at
            WHERE earlier.story_id = news.story_id AND earlier.id <> ALL (:ids) AND earlier.indexed_hash IS NOT NULL
                AND (follow.subject IS NOT NULL OR earlier.first_seen_at > wanted.created_at
                    AND (wanted.place = 3 OR wanted.place = 4 AND read.category_id = own.category_id))
        ))
        ORDER BY wanted.user_id, coalesce(news.story_id, -news.id), wanted.place, news.id
    ), grouped AS (
        SELECT user_id, subject, array_agg(id ORDER BY id) AS ids FROM told GROUP BY user_id, subject
    )
    SELECT subject, ids, array_agg(user_id ORDER BY user_id) FROM grouped GROUP BY subject, ids
""")  # noqa: S608
_TYPES = (bindparam("ids", type_=ARRAY(BigInteger)), bindparam("life", type_=Interval))
_FIND_NEWS, _FIND_GROUPS = _FIND_NEWS.bindparams(*_TYPES), _FIND_GROUPS.bindparams(*_TYPES)


async def find_news(session: AsyncSession, entry_ids: Collection[int]) -> Sequence[int]:
    """Those of these entries that may be told of at all."""
    found = await session.execute(_FIND_NEWS, {"ids": list(entry_ids), "life": NEWS_LIFE})
    return list(found.scalars())


async def tell_of_articles(
    work: UnitOfWork, entry_ids: Collection[int], searched: Collection[tuple[int, str]] = ()
) -> None:
    """Tell who follows what concerns these articles, which nobody could find before.

    `searched` says which of them followed searches ask for.
    """
    session = work.session
    values = {
        "ids": list(entry_ids),
        "life": NEWS_LIFE,
        "found": [entry_id for entry_id, _ in searched],
        "searches": [subject for _, subject in searched],
    }
    found = (await session.execute(_FIND_GROUPS, values)).tuples().all()
    if not found:
        return
    articles = await _load_articles(session, {number for _, ids, _ in found for number in ids})
    names = await _load_names(session, {subject for subject, *_ in found})
    groups = [
        _group(subject, [articles[number] for number in ids], people, names.get(subject, ""))
        for subject, ids, people in found
    ]
    matches = await _load_matches(session, articles.values())
    told = [(write_notice(group, matches), group.user_ids) for group in groups]
    for begin in range(0, len(told), WRITTEN_AT_ONCE):
        await publish_among(work, told[begin : begin + WRITTEN_AT_ONCE])


def _group(subject: str, articles: Sequence[NewArticle], people: Sequence[int], name: str) -> Group:
    """Feeds and stories are named by their articles."""
    numbers = [(kind, kind.number(subject)) for kind in FollowedKind]
    path = next((kind.path(number) for kind, number in numbers if number is not None), search_path(name))
    return Group(subject, name or articles[0].feed_name, path, articles, people)


async def _load_articles(session: AsyncSession, entry_ids: Collection[int]) -> Mapping[int, NewArticle]:
    columns = (EntryRow.id, EntryRow.title, EntryRow.feed_id, feed_name(), EntryRow.story_id, EntryRow.first_seen_at)
    statement = select(*columns).join(FeedRow, FeedRow.id == EntryRow.feed_id).where(EntryRow.id == one_of(entry_ids))
    return {row[0]: NewArticle(*row) for row in (await session.execute(statement)).tuples()}


async def _load_names(session: AsyncSession, subjects: Collection[str]) -> Mapping[str, str]:
    """What the labels, categories and searches among these subjects are called; feeds and stories are left out."""
    names: dict[str, str] = {}
    for kind, row in ((FollowedKind.LABEL, LabelRow), (FollowedKind.CATEGORY, CategoryRow)):
        wanted = [number for subject in subjects if (number := kind.number(subject)) is not None]
        if wanted:
            rows = await session.execute(select(row.id, row.name).where(row.id == one_of(wanted)))
            names |= {kind.subject(number): name for number, name in rows.tuples()}
    searches = [subject for subject in subjects if subject.startswith(SEARCH)]
    if searches:
        named = select(FollowRow.subject, func.min(FollowRow.name)).where(FollowRow.subject == one_of_texts(searches))
        names |= dict((await session.execute(named.group_by(FollowRow.subject))).tuples().all())
    return names


async def _load_matches(session: AsyncSession, articles: Collection[NewArticle]) -> Sequence[GuardedMatch]:
    """The matches whose score a title may tell; most titles have no score in them."""
    return await load_all_guarded(session) if any(has_score(one.title) for one in articles) else ()
