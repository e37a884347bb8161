"""The web application: the shell around the pages and APIs of the core and of every application."""

import asyncio
import pkgutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.metadata import version

from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware import Middleware

import pressbox.core.web.api
import pressbox.core.web.pages
from pressbox.core.app import AppManifest
from pressbox.core.config import Settings, WebSettings
from pressbox.core.live.slots import StreamLimits, StreamSlots
from pressbox.core.web import assets, installable, operations, stream
from pressbox.core.web.account_mail import find_mailer
from pressbox.core.web.addresses import own_addresses
from pressbox.core.web.compression import Compression, HeadAnswer
from pressbox.core.web.connection import Connect, connected, keep_connected
from pressbox.core.web.errors import ErrorResponse, install_error_handlers
from pressbox.core.web.identity import refuse_open_beyond_loopback
from pressbox.core.web.rates import PersonLimits, RequestRates, count_request
from pressbox.core.web.refusals import EarlyRefusal, Refusals
from pressbox.core.web.requests import ErrorBoundary, RequestContext
from pressbox.core.web.security import BodyLimit, BodyLimits, HostCheck, OriginCheck
from pressbox.core.web.topics import audience_kinds, live_topics

# Temporal's UI and its server speak with each other; we only pass it on.
LARGER_BODIES = ((r"/temporal/.*", 4_000_000),)


def create_app(settings: Settings, manifests: Sequence[AppManifest], connect: Connect) -> FastAPI:
    """The ASGI application. It starts, and answers /healthz, whether or not its parts are there.

    Serve it without the server's own proxy headers: the shell decides itself whom to believe.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.request_rates, app.state.person_limits = RequestRates(), PersonLimits()
        # Set when the process is asked to stop: live pages end before the server waits for its answers.
        app.state.stopping = asyncio.Event()
        async with keep_connected(app.state, connect, live_topics(manifests), app.state.audiences):
            yield

    app = FastAPI(
        title="Pressbox",
        version=version("pressbox"),
        openapi_url="/api/openapi.json",
        # The framework's own pages load scripts from elsewhere; ours is at /api/docs.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses={"4XX": {"model": ErrorResponse, "description": "Refused; the body says why."}},
    )
    app.state.manifests = tuple(manifests)
    app.state.audiences = audience_kinds(manifests)
    apply_settings(app, settings)
    install_error_handlers(app)
    app.include_router(operations.router)
    app.include_router(assets.router)
    app.include_router(installable.router)
    for router in routers(manifests):
        # First the parts, then who asks and how often: a page without the database is a clear 503, not a surprise.
        app.include_router(router, dependencies=[Depends(connected), Depends(count_request)])
    return app


def apply_settings(app: FastAPI, settings: Settings) -> None:
    """Set all that depends on settings, which the routes do not; only while the application does not run."""
    refuse_open_beyond_loopback(settings)
    app.state.settings = settings
    app.state.mailer = find_mailer(settings, app.state.manifests)
    app.state.refusals = Refusals()
    app.state.stream_slots = StreamSlots(_stream_limits(settings.web))
    app.user_middleware = _shell(settings, app.state.manifests)
    app.middleware_stack = None


def _stream_limits(settings: WebSettings) -> StreamLimits:
    return StreamLimits(settings.streams_per_address, settings.streams_in_all)


def _shell(settings: Settings, manifests: Sequence[AppManifest]) -> list[Middleware]:
    """Outermost first: what refuses a request stands inside of what turns the refusal into an answer."""
    own = own_addresses(settings.web)
    cookieless = tuple(path for manifest in manifests for path in manifest.cookieless)
    secret = tuple(path for manifest in manifests for path in manifest.secret_paths)
    larger = (*LARGER_BODIES, *(limit for manifest in manifests for limit in manifest.body_limits))
    return [
        Middleware(RequestContext, settings=settings),
        Middleware(HeadAnswer),
        Middleware(Compression, secret_paths=secret),
        Middleware(ErrorBoundary),
        Middleware(HostCheck, own=own),
        Middleware(EarlyRefusal),
        Middleware(OriginCheck, own=own, cookieless=cookieless),
        Middleware(BodyLimit, limits=BodyLimits(settings.web.max_body_bytes, larger)),
    ]


def routers(manifests: Sequence[AppManifest]) -> Iterator[APIRouter]:
    """Everything that is served but probes and static files: the core's APIs and pages, then the applications'."""
    yield stream.router
    for package in (pressbox.core.web.api, pressbox.core.web.pages):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            router = getattr(import_module(module.name), "router", None)
            if isinstance(router, APIRouter):
                yield router
    for manifest in manifests:
        if manifest.router is not None:
            yield manifest.router()
