"""The web process."""

import asyncio
import gc
import socket
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress

import uvicorn
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from pressbox.core.app import Resources
from pressbox.core.collection import collect_as_usual
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError
from pressbox.core.logs import get_logger, redact
from pressbox.core.tracing import start_tracing
from pressbox.core.web.addresses import trusted_networks
from pressbox.core.web.app import create_app
from pressbox.core.web.server import Door, DoorLimits, allow_many_files, guarded_protocol
from pressbox.entry.manifests import manifests
from pressbox.entry.stored_settings import LOOK_EVERY_SECONDS, add_stored_settings, combine_settings
from pressbox.entry.wiring import find_endpoints, open_resources, with_secret_key

log = get_logger(__name__)

# Open event streams would otherwise hold a stop for as long as they live; browsers come back by themselves.
_GRACE_SECONDS = 3
_NOT_STARTED = 1


def build_app(settings: Settings) -> FastAPI:
    settings = with_secret_key(settings)
    return _build(settings, settings)


def _build(settings: Settings, used: Settings) -> FastAPI:
    """The application by the settings that are in use; connected parts read those of the pages once more."""

    def connect() -> AbstractAsyncContextManager[Resources]:
        return open_resources(settings)

    return create_app(used, manifests(settings), connect)


class WebProcess:
    """The application that is served now. When settings are changed on a page it is built anew with the new ones, while
    the one before answers; requests that it began may end there, and open streams come back by themselves.
    """

    def __init__(self, settings: Settings, *, look_seconds: float = LOOK_EVERY_SECONDS) -> None:
        self._settings = with_secret_key(settings)
        self._look_seconds = look_seconds
        self._app: FastAPI | None = None
        self._exits = AsyncExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            assert self._app is not None
            await self._app(scope, receive, send)

    def end_streams(self) -> None:
        if self._app is not None:
            self._app.state.stopping.set()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            self._app = await self._start(await self._read_settings())
        # Reason: the server has to be told why it cannot start, whatever it is.
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": redact(str(error))})
            raise
        await send({"type": "lifespan.startup.complete"})
        keeping = asyncio.create_task(self._keep_current(self._app))
        try:
            await receive()
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})
            await self._exits.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _keep_current(self, app: FastAPI) -> None:
        while True:
            await asyncio.sleep(self._look_seconds)
            try:
                resources: Resources | None = app.state.resources
                if resources is None or not self._settings.secret_keys:
                    continue
                used = await combine_settings(self._settings, resources.database)
                if used != app.state.settings:
                    app = await self._replace(used)
                    log.info("settings_taken", msg="Settings were changed on a page and are in use now")
            # Reason: what cannot be used must not end the application that answers now.
            except Exception as error:
                log.error("settings_not_taken", msg="Settings of the pages cannot be used", exc_info=error)

    async def _replace(self, used: Settings) -> FastAPI:
        before, self._exits = self._exits, AsyncExitStack()
        try:
            self._app = app = await self._start(used)
        # Whatever keeps the new one from starting, the one before goes on.
        except BaseException:
            self._exits = before
            raise
        try:
            await asyncio.sleep(_GRACE_SECONDS)
        finally:
            await before.aclose()
        return app

    async def _start(self, used: Settings) -> FastAPI:
        app = await asyncio.to_thread(_build, self._settings, used)
        await self._exits.enter_async_context(app.router.lifespan_context(app))
        return app

    async def _read_settings(self) -> Settings:
        try:
            where = find_endpoints(self._settings)
        except ConfigurationError:
            return self._settings
        database = Database(where.database_url.replace("postgres://", "postgresql://", 1), pool_size=1)
        try:
            return await add_stored_settings(self._settings, database)
        finally:
            await database.close()


def run_web(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    web = settings.web
    start_tracing(settings.tracing, "web")
    limits = DoorLimits(web.connections_per_address, allow_many_files(web.connections_in_all))
    process = WebProcess(settings)
    config = uvicorn.Config(
        process,
        host=web.host,
        port=web.port,
        loop="uvloop",
        http=guarded_protocol(Door(limits, trusted_networks(web))),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # The application decides itself which proxies it believes.
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=30,
    )
    server = _Server(config, process)
    # A port that cannot be taken ends the server's own way, with a code that only it knows.
    with suppress(SystemExit):
        server.run()
    if not server.started:
        sys.exit(_NOT_STARTED)


class _Server(uvicorn.Server):
    """Lets live pages end first: the server waits for its answers, and theirs would never end."""

    def __init__(self, config: uvicorn.Config, process: WebProcess) -> None:
        super().__init__(config)
        self._process = process

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Routes, models and templates stay for good: the collector need not walk through them while pages are made.
        collect_as_usual()
        gc.freeze()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._process.end_streams()
        await super().shutdown(sockets)
