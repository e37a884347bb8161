"""What the worker and the workshop's processes say to each other: one line of JSON each.

JSON and not pickles: what a process answers after it read a hostile page is data, whatever happened inside it.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from pressbox.curator.context.domain.context import ContextLink, EntryContext
from pressbox.curator.context.ports import ContextSource
from pressbox.curator.library.domain.entries import Distilled, FetchedArticle, ToDistil
from pressbox.curator.library.domain.feeds import ExtractionRule


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)


class ExtractTask(_Message):
    kind: Literal["extract"] = "extract"
    html: str
    url: str
    rules: tuple[ExtractionRule, ...] = ()


class FeedTextTask(_Message):
    kind: Literal["feed text"] = "feed text"
    html: str
    base_url: str


class DistilTask(_Message):
    kind: Literal["distil"] = "distil"
    entries: tuple[ToDistil, ...]
    sentences: int


class ContextTask(_Message):
    kind: Literal["context"] = "context"
    source: ContextSource


class LinksTask(_Message):
    kind: Literal["links"] = "links"
    html: str
    url: str


class ReadmeTask(_Message):
    """Its relative links lead to `page_url`, its pictures to `file_url`."""

    kind: Literal["readme"] = "readme"
    html: str
    page_url: str
    file_url: str


Task = Annotated[
    ExtractTask | FeedTextTask | DistilTask | ContextTask | LinksTask | ReadmeTask, Field(discriminator="kind")
]
TASK: TypeAdapter[Task] = TypeAdapter(Task)


class Outcome(_Message):
    """`problem` tells why there is nothing; `invalid` that a rule is to be changed."""

    article: FetchedArticle | None = None
    distilled: tuple[Distilled, ...] = ()
    context: EntryContext | None = None
    links: tuple[ContextLink, ...] = ()
    html: str = ""
    problem: str = ""
    invalid: bool = False
