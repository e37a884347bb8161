"""The web process and its parts: it starts without them, keeps trying, and says so until they are there."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from fastapi import Request
from starlette.datastructures import State
from temporalio.client import Client

from pressbox.core.accounts.ending import AccountEnding
from pressbox.core.accounts.external import ExternalSignIn
from pressbox.core.accounts.factors import SecondFactors
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.oidc_client import OidcClient
from pressbox.core.accounts.recovery import AccountRecovery
from pressbox.core.accounts.service import AccountService
from pressbox.core.accounts.sign_in_ways import is_oidc_on
from pressbox.core.app import LiveTopic, Resources
from pressbox.core.audiences.members import AudienceKind
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError, TransientError
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.logs import get_logger
from pressbox.core.measures import Measures, declared_measures
from pressbox.core.temporal.client import temporal_problem
from pressbox.core.web.metrics import STREAM_CLIENTS

log = get_logger(__name__)

Connect = Callable[[], AbstractAsyncContextManager[Resources]]

# The usual start is over long before; only when a part is away do requests come before the resources.
FIRST_WAIT_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 5.0
FEED_PAUSE_SECONDS = 1.0
LOOK_AT_TEMPORAL = timedelta(seconds=5)


@asynccontextmanager
async def keep_connected(
    state: State, connect: Connect, topics: Mapping[str, LiveTopic], audiences: Sequence[AudienceKind]
) -> AsyncIterator[None]:
    """Put `resources`, `accounts` and `feed` into the state as soon as the parts answer; close all at the end."""
    state.resources, state.accounts, state.feed, state.temporal_away, state.measures = None, None, None, None, None
    state.connection_problem = "Pressbox is starting."
    attempted = asyncio.Event()
    # One task opens and closes: the resources may hold things that must be left where they were entered.
    task = asyncio.create_task(
        _hold(state, connect, lambda resources: ChangeFeed(resources, topics, audiences), attempted)
    )
    waiting = asyncio.create_task(attempted.wait())
    try:
        await asyncio.wait({task, waiting}, timeout=FIRST_WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield
    finally:
        waiting.cancel()
        task.cancel()
        await asyncio.wait({task, waiting})


async def _hold(
    state: State, connect: Connect, make_feed: Callable[[Resources], ChangeFeed], attempted: asyncio.Event
) -> None:
    pause = 0.2
    while True:
        try:
            async with connect() as resources:
                state.accounts = AccountService(resources.database, resources.settings)
                state.feed = feed = make_feed(resources)
                state.measures = Measures(resources.database, declared_measures(state.manifests))
                STREAM_CLIENTS.set_function(partial(getattr, feed, "listeners"))
                async with (
                    _open_sign_in_parts(state, resources.database),
                    _run_beside(_keep_feeding(feed)),
                    _run_beside(_watch_temporal(state, resources.temporal)),
                ):
                    state.resources = resources
                    attempted.set()
                    await asyncio.Event().wait()
        # Whatever keeps a part away must not take the web process with it: /healthz answers, /readyz says why.
        except Exception as error:
            if isinstance(error, ConfigurationError) and not attempted.is_set():
                # Time does not mend a wrong setting: the process ends and says which one.
                raise
            state.connection_problem = "A part of Pressbox is not there yet: database or Temporal."
            log.warning("parts_missing", msg="Cannot connect, trying again", error=str(error), seconds=pause)
        state.resources = None
        attempted.set()
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


@asynccontextmanager
async def _open_sign_in_parts(state: State, database: Database) -> AsyncIterator[None]:
    """Second factors, and the provider if one is set."""
    settings: Settings = state.settings
    state.factors = SecondFactors(database, settings)
    public_url = settings.web.public_url or ""
    if not is_oidc_on(settings.oidc, public_url):
        state.external = ExternalSignIn(database, None)
        yield
        return
    async with OidcClient(settings.oidc, settings.http, public_url) as client:
        state.external = ExternalSignIn(database, client)
        yield


@asynccontextmanager
async def _run_beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _keep_feeding(feed: ChangeFeed) -> None:
    while True:
        try:
            await feed.run()
        # One topic that cannot be loaded must neither end all live updates nor the pages beside them.
        except Exception as error:
            log.error("feed_failed", msg="Live updates failed, starting again", exc_info=error)
            await asyncio.sleep(FEED_PAUSE_SECONDS)


async def _watch_temporal(state: State, client: Client) -> None:
    """Keep `temporal_away`, which pages show. People can read without Temporal, and should know what waits."""
    while True:
        state.temporal_away = await temporal_problem(client, LOOK_AT_TEMPORAL)
        await asyncio.sleep(LOOK_AT_TEMPORAL.total_seconds())


def connected(request: Request) -> Resources:
    """Dependency: the resources, or 503 while there are none."""
    resources: Resources | None = getattr(request.app.state, "resources", None)
    if resources is None:
        raise TransientError(getattr(request.app.state, "connection_problem", "Pressbox is starting."))
    return resources


def account_service(request: Request) -> AccountService:
    """Dependency: the accounts of this instance."""
    connected(request)
    service: AccountService = request.app.state.accounts
    return service


def account_life_cycle(request: Request) -> AccountLifeCycle:
    """Dependency: changes of whole accounts, with what every application has to do with it."""
    resources, accounts = connected(request), account_service(request)
    return AccountLifeCycle(resources.database, accounts.passwords, request.app.state.manifests)


def account_recovery(request: Request) -> AccountRecovery:
    """Dependency: links by which people come back, come in, or change their address."""
    return AccountRecovery(connected(request).database, account_life_cycle(request))


def second_factors(request: Request) -> SecondFactors:
    """Dependency: second factors and passkeys."""
    connected(request)
    factors: SecondFactors = request.app.state.factors
    return factors


def external_sign_in(request: Request) -> ExternalSignIn:
    """Dependency: people of an OpenID provider or a proxy."""
    connected(request)
    external: ExternalSignIn = request.app.state.external
    return external


def account_ending(request: Request) -> AccountEnding:
    """Dependency: export and deletion of accounts in all applications."""
    return AccountEnding(connected(request), account_life_cycle(request), request.app.state.manifests)
