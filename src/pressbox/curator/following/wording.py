"""What is told of new articles, in English sentences. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from pressbox.core.notices.publish import Notice
from pressbox.core.spoilers.titles import GuardedMatch, find_told
from pressbox.curator.library.subjects import APPLICATION, SEARCH, FollowedKind, entry_path

ARTICLE_KIND = "article"
# A notice of several articles names so many of them, each so long.
TITLES_SHOWN = 3
LONGEST_TITLE = 300


@dataclass(frozen=True)
class NewArticle:
    entry_id: int
    title: str
    feed_id: int
    feed_name: str
    story_id: int | None
    first_seen_at: datetime

    @property
    def path(self) -> str:
        return entry_path(self.entry_id)

    @property
    def subjects(self) -> Sequence[str]:
        """What concerns it whoever reads it: who mutes one of these hears nothing more of it."""
        story = [FollowedKind.STORY.subject(self.story_id)] if self.story_id is not None else []
        return (*story, FollowedKind.FEED.subject(self.feed_id))


@dataclass(frozen=True)
class Group:
    """New articles of which these people hear at once because they follow a subject, with its name and its list."""

    subject: str
    name: str
    path: str
    articles: Sequence[NewArticle]
    user_ids: Sequence[int]


def write_notice(group: Group, matches: Sequence[GuardedMatch]) -> Notice:
    """One article is told by its title, several by their number. No title tells a score to who hides it."""
    return _write_one(group, matches) if len(group.articles) == 1 else _write_many(group, matches)


def _write_one(group: Group, matches: Sequence[GuardedMatch]) -> Notice:
    [article] = group.articles
    told = find_told(article.title, matches)
    title = _shorten(article.title) or f"A new article in {article.feed_name}"
    name, detail = group.name, "" if article.feed_name == group.name else article.feed_name
    if group.subject.startswith(FollowedKind.STORY.prefix):
        # Who follows a story knows its title, and wants to know who has it.
        name, title, detail = title, f"{article.feed_name} has this story too", title if told else ""
    return Notice(
        key=_key(group),
        application=APPLICATION,
        kind=ARTICLE_KIND,
        # Who looks at the match sees the title, and the lines of a match stand together.
        subject=told.subject if told else group.subject,
        heading=told.heading if told else name,
        followed=tuple(dict.fromkeys((group.subject, *article.subjects))),
        title=title,
        detail=detail,
        path=article.path,
        occurred_at=article.first_seen_at,
        spoiler=told is not None,
        covered_title=f"An article about {told.heading}" if told else "",
    )


def _write_many(group: Group, matches: Sequence[GuardedMatch]) -> Notice:
    """Of a story there is never more than one at once: its copies count as one article."""
    number, is_search = len(group.articles), group.subject.startswith(SEARCH)
    newest = sorted(group.articles, key=lambda one: -one.entry_id)
    harmless = [one.title for one in newest if one.title and find_told(one.title, matches) is None]
    return Notice(
        key=_key(group),
        application=APPLICATION,
        kind=ARTICLE_KIND,
        subject=group.subject,
        heading=group.name,
        followed=(group.subject,),
        title=f"{number} new articles with “{group.name}”" if is_search else f"{number} new articles in {group.name}",
        detail=" · ".join(_shorten(title) for title in harmless[:TITLES_SHOWN]),
        path=group.path,
        occurred_at=max(one.first_seen_at for one in group.articles),
    )


def _key(group: Group) -> str:
    """The same articles of the same subject are the same notice."""
    numbers = "-".join(str(number) for number in sorted(one.entry_id for one in group.articles))
    return f"{group.subject}.articles.{sha256(numbers.encode()).hexdigest()[:20]}"


def _shorten(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
