"""What the API of the reader takes and gives."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from fastapi import Query
from pydantic import ConfigDict, Field

from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.curator.library.domain.entries import DistilState, FetchState
from pressbox.curator.library.domain.feeds import CrawlOutcome, ExtractionRule
from pressbox.curator.library.domain.views import (
    ArticleView,
    EntryPage,
    FeedDetail,
    FeedSettings,
    FeedView,
    ImportView,
    ListKind,
    ListNote,
    Preference,
    Selection,
    Sort,
)

After = Annotated[str | None, Query(max_length=100, description="The `after` of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=200)]
Identifier = Annotated[int, Field(ge=1, le=2**63 - 1)]


class RuleModel(RequestBody, ResponseModel):
    """What the expression finds on a page is kept or removed."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    kind: Literal["css", "xpath"]
    expression: str
    keep: bool

    def read(self) -> ExtractionRule:
        return ExtractionRule(self.kind, self.expression, self.keep)


class HealthAnswer(ResponseModel):
    outcome: CrawlOutcome | None = Field(description="What the last crawl came to; null before the first.")
    failing: bool
    reason: str
    status: int | None = Field(description="The HTTP status, when there was one.")
    failures: int = Field(description="In a row.")
    failing_since: datetime | None
    last_crawl_at: datetime | None
    last_success_at: datetime | None
    last_new_at: datetime | None
    next_crawl_at: datetime | None = Field(description="null: not again until somebody says so.")


class FeedAnswer(ResponseModel):
    """A feed of yours. Title and category are your own, the rest is common to all who read it."""

    id: int
    title: str
    own_title: str
    url: str
    site_url: str
    description: str
    language: str
    icon_url: str
    category_id: int | None
    category: str
    unread: int
    shared: bool = Field(description="Others read it too: then only an administrator changes what is common.")
    paused_at: datetime | None
    full_text: bool
    rules: list[RuleModel]
    interval_seconds: int | None = Field(description="null: it adapts.")
    entry_limit: int | None
    health: HealthAnswer
    subscribed_at: datetime

    @classmethod
    def of(cls, feed: FeedView) -> Self:
        seconds = None if feed.interval is None else int(feed.interval.total_seconds())
        return cls.model_validate(vars(feed) | {"interval_seconds": seconds, "shared": feed.shared})


class FeedErrorAnswer(ResponseModel):
    at: datetime
    outcome: CrawlOutcome
    status: int | None
    reason: str


class EntryFailureAnswer(ResponseModel):
    entry_id: int
    title: str
    reason: str
    next_try_at: datetime | None


class FeedDetailAnswer(ResponseModel):
    feed: FeedAnswer
    errors: list[FeedErrorAnswer] = Field(description="The latest, newest first.")
    entries: int
    to_fetch: int
    to_distil: int
    fetch_failures: list[EntryFailureAnswer]

    @classmethod
    def of(cls, detail: FeedDetail) -> Self:
        return cls.model_validate(vars(detail) | {"feed": FeedAnswer.of(detail.feed)})


class AddressBody(RequestBody):
    url: str = Field(max_length=2000, description="Of a site, or of a feed itself.")


class FoundFeedAnswer(ResponseModel):
    url: str
    title: str
    entries: int | None
    subscribed: bool


class SubscribeBody(AddressBody):
    title: str = Field("", description="Your own title; empty: the feed's.")
    category_id: Identifier | None = None


class FeedChange(RequestBody):
    """What is left out stays as it is."""

    title: str | None = None
    category_id: Identifier | None = Field(None, description="null: no category; left out, it stays.")
    full_text: bool | None = None
    rules: list[RuleModel] | None = None
    interval_seconds: int | None = Field(None, ge=1, description="null: it adapts; left out, it stays.")
    entry_limit: int | None = Field(None, ge=1, description="null: no limit of its own; left out, it stays.")

    @property
    def places(self) -> bool:
        return bool(self.model_fields_set & {"title", "category_id"})

    @property
    def configures(self) -> bool:
        return bool(self.model_fields_set - {"title", "category_id"})

    def placed(self, feed: FeedView) -> tuple[str, int | None]:
        category = self.category_id if "category_id" in self.model_fields_set else feed.category_id
        return feed.own_title if self.title is None else self.title, category

    def settings(self, feed: FeedView) -> FeedSettings:
        interval, limit = feed.interval, feed.entry_limit
        if "interval_seconds" in self.model_fields_set:
            interval = None if self.interval_seconds is None else timedelta(seconds=self.interval_seconds)
        if "entry_limit" in self.model_fields_set:
            limit = self.entry_limit
        return FeedSettings(
            full_text=feed.full_text if self.full_text is None else self.full_text,
            rules=feed.rules if self.rules is None else tuple(rule.read() for rule in self.rules),
            interval=interval,
            entry_limit=limit,
        )


class NameBody(RequestBody):
    name: str


class OrderBody(RequestBody):
    category_ids: list[Identifier] = Field(max_length=1000)


class CategoryAnswer(ResponseModel):
    id: int
    name: str
    unread: int


class LabelAnswer(ResponseModel):
    id: int
    name: str


class CountedLabelAnswer(LabelAnswer):
    entries: int


class SourcesAnswer(ResponseModel):
    """All that you read, with counts."""

    categories: list[CategoryAnswer]
    feeds: list[FeedAnswer]
    labels: list[CountedLabelAnswer]
    unread: int
    starred: int
    up: int
    failing: int


class SourceOfStoryAnswer(ResponseModel):
    entry_id: int
    feed_id: int
    feed_title: str
    url: str


class EntryAnswer(ResponseModel):
    """One line of a list. A story that came from several of your feeds is one line."""

    id: int
    feed_id: int
    feed_title: str
    title: str
    url: str
    author: str
    language: str
    published_at: datetime
    dated: bool = Field(description="false: the feed gave no usable date, and this is when it was first seen.")
    summary: str
    thumbnail_url: str
    words: int
    fetch_state: FetchState
    distil_state: DistilState
    read: bool
    starred: bool
    preference: Preference = Field(description="-1, 0 or 1.")
    has_note: bool
    labels: list[LabelAnswer]
    others: list[SourceOfStoryAnswer] = Field(description="The same story in your other feeds.")
    title_html: str = Field(description="Of a search: escaped, with the hits in <mark>.")
    snippet_html: str


class EntriesAnswer(ResponseModel):
    items: list[EntryAnswer]
    after: str | None = Field(description="Ask for the next page with it; null at the end.")
    sort: Sort = Field(description="How it is sorted; not always as asked for, then `note` says why.")
    note: ListNote
    total: int | None = Field(description="Of a search only.")

    @classmethod
    def of(cls, page: EntryPage) -> Self:
        return cls.model_validate(page)


class EnclosureAnswer(ResponseModel):
    url: str
    type: str
    length: int | None


class ArticleAnswer(EntryAnswer):
    body_html: str = Field(description="Sanitised.")
    from_feed: bool = Field(description="The feed's own text: there is no other, or not yet.")
    site_url: str
    note: str = Field(description="Yours, and seen by nobody else.")
    enclosures: list[EnclosureAnswer]
    fetch_reason: str
    next_fetch_at: datetime | None
    distil_reason: str
    distil_model: str = Field(description="What made the summary.")
    first_seen_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, article: ArticleView) -> Self:
        return cls.model_validate(vars(article.item) | vars(article))


class EntryChange(RequestBody):
    """What is left out stays as it is."""

    read: bool | None = None
    starred: bool | None = None
    preference: Preference | None = None
    note: str | None = None
    labels: list[str] | None = Field(None, description="Exactly these afterwards; new names become labels.")


class ReadBody(RequestBody):
    entry_ids: list[Identifier] = Field(max_length=1000)
    read: bool = True


class AllReadBody(RequestBody):
    view: ListKind = ListKind.ALL
    id: Identifier | None = None
    until: datetime = Field(description="When you saw the list, with an offset: what arrived later stays unread.")

    def selection(self) -> Selection:
        return Selection(self.view, self.id)


class MarkedReadAnswer(ResponseModel):
    count: int
    stamp: datetime | None = Field(description="Takes it back at /entries/all-read/undo.")


class UndoBody(RequestBody):
    stamp: datetime


class CountAnswer(ResponseModel):
    count: int


class ProblemAnswer(ResponseModel):
    line: int
    title: str
    reason: str


class FailingAnswer(ResponseModel):
    id: int
    title: str
    url: str
    outcome: CrawlOutcome | None
    reason: str
    next_crawl_at: datetime | None


class ImportAnswer(ResponseModel):
    """An import as it stands. What could be subscribed is subscribed; `waiting` feeds are still to be read."""

    id: str
    total: int
    added: int
    known: int
    waiting: int
    readable: int
    broken: list[ProblemAnswer] = Field(description="Lines that could not be used.")
    failing: list[FailingAnswer] = Field(description="Feeds that could not be read.")

    @classmethod
    def of(cls, report: ImportView) -> Self:
        failing = [vars(feed) | vars(feed.health) for feed in report.failing]
        return cls.model_validate(vars(report) | {"total": report.total, "failing": failing})


class PreviewBody(AddressBody):
    rules: list[RuleModel] = Field(default_factory=list, max_length=50)


class PreviewAnswer(ResponseModel):
    ok: bool
    html: str
    title: str
    words: int
    error: str
