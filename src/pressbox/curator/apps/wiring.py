"""People's own apps, from the process's resources: sign-in, streams, views as feeds."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pressbox.core.accounts.limits import RateLimits
from pressbox.core.accounts.passwords import Passwords
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.curator.apps.service import AppService, ViewService
from pressbox.curator.apps.store import SqlAppAccess, SqlViewFeeds
from pressbox.curator.apps.stream_store import SqlStreams
from pressbox.curator.apps.streams import StreamService
from pressbox.curator.library.slice import Slice
from pressbox.curator.reading.service import ReadingService
from pressbox.curator.reading.states import StateService
from pressbox.curator.sources.service import SourceService
from pressbox.curator.sources.subscription_store import SqlSubscriptions

if TYPE_CHECKING:
    from fastapi import APIRouter


def apps(resources: Resources, passwords: Passwords | None = None) -> AppService:
    database = resources.database
    accounts = AccountService(database, resources.settings)
    return AppService(SqlAppAccess(database), accounts, passwords or Passwords(), RateLimits(database))


def streams(
    resources: Resources,
    sources: SourceService,
    states: StateService,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> StreamService:
    return StreamService(SqlStreams(resources.database), sources, states, now)


def views(resources: Resources, reading: ReadingService) -> ViewService:
    database = resources.database
    return ViewService(SqlViewFeeds(database), SqlSubscriptions(database), reading, SqlStreams(database))


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.apps import pages
    from pressbox.curator.apps.reader_api import routes

    return pages.router, routes.build_router()


SLICE = Slice(routers=routers)
