"""The web process."""

from contextlib import AbstractAsyncContextManager

import uvicorn
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.web.addresses import trusted_networks
from pressbox.core.web.app import create_app
from pressbox.core.web.server import Door, DoorLimits, allow_many_files, guarded_protocol
from pressbox.entry.manifests import manifests
from pressbox.entry.wiring import open_resources, with_secret_key

# Open event streams would otherwise hold a stop for as long as they live; browsers come back by themselves.
_GRACE_SECONDS = 3


def build_app(settings: Settings) -> FastAPI:
    settings = with_secret_key(settings)

    def connect() -> AbstractAsyncContextManager[Resources]:
        return open_resources(settings)

    return create_app(settings, manifests(settings), connect)


def run_web(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    web = settings.web
    limits = DoorLimits(web.connections_per_address, allow_many_files(web.connections_in_all))
    uvicorn.run(
        build_app(settings),
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
