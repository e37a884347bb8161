"""Reading: lists, articles and what a person does with them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import Resources
from pressbox.core.audiences.contracts import PERSON_KIND
from pressbox.core.live.admission import audiences_by_id
from pressbox.curator.ingest.starter import ingest_starter
from pressbox.curator.library.domain import PERSON_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.reading.service import ReadingService, StateService
from pressbox.curator.reading.state_store import SqlLabels, SqlReadingStates
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.search.wiring import article_search, embedder
from pressbox.curator.settings import CuratorSettings


def reading_service(resources: Resources) -> ReadingService:
    model = embedder(resources.settings.group(CuratorSettings)).model
    lists = SqlReadingLists(resources.database)
    return ReadingService(lists, article_search(resources), model, ingest_starter(resources))


def state_service(resources: Resources) -> StateService:
    return StateService(SqlReadingStates(resources.database), SqlLabels(resources.database))


if TYPE_CHECKING:
    from fastapi import APIRouter


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.reading import api, follows, pages

    return api.router, follows.api, follows.pages, pages.router


# Who reads what is private: a person's own topic has to be named.
SLICE = Slice(topics=(change_topic(PERSON_CHANGED, audiences_by_id(PERSON_KIND), by_name=True),), routers=routers)
