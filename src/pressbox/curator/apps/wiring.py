"""People's own apps, from the process's resources: sign-in, streams, views as feeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.accounts.attempts import SignInAttempts
from pressbox.core.accounts.audit import AuditLog
from pressbox.core.accounts.passwords import Passwords
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.curator.apps.service import AppService, StreamService, ViewService
from pressbox.curator.apps.store import SqlAppAccess, SqlViewFeeds
from pressbox.curator.apps.stream_store import SqlStreams
from pressbox.curator.library.slice import Slice
from pressbox.curator.names import READER_API_BASES
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.reading.wiring import reading_service, state_service
from pressbox.curator.sources.wiring import source_service

if TYPE_CHECKING:
    from fastapi import APIRouter


def app_service(resources: Resources, passwords: Passwords | None = None) -> AppService:
    database = resources.database
    accounts = AccountService(database, resources.settings)
    attempts = SignInAttempts(database, kind="app")
    return AppService(SqlAppAccess(database), accounts, passwords or Passwords(), attempts, AuditLog(database))


def stream_service(resources: Resources) -> StreamService:
    return StreamService(
        SqlStreams(resources.database),
        SqlSidebar(resources.database),
        source_service(resources),
        state_service(resources),
    )


def view_service(resources: Resources) -> ViewService:
    database = resources.database
    return ViewService(
        SqlViewFeeds(database),
        SqlSidebar(database),
        reading_service(resources),
        SqlStreams(database),
        AuditLog(database),
    )


def routers() -> "Sequence[APIRouter]":
    from fastapi import APIRouter

    from pressbox.curator.apps import pages, reader_api

    # Bare, and below what apps add to the server's name.
    api = APIRouter(include_in_schema=False)
    for base in READER_API_BASES:
        api.include_router(reader_api.router, prefix=base)
    return pages.router, api


SLICE = Slice(routers=routers)
