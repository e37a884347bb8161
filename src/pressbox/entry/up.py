"""Runs everything on one home, until Ctrl-C.

What prepares the database and Temporal runs in a process that is gone afterwards; it loads while the servers start.
"""

import asyncio
from urllib.parse import urlsplit

import typer

from pressbox.core.collection import collect_rarely
from pressbox.core.config import Settings
from pressbox.core.logs import redact
from pressbox.core.release import release
from pressbox.embedded.announcement import announcement
from pressbox.embedded.home import Endpoints, Home
from pressbox.embedded.log_follower import LogFollower
from pressbox.embedded.supervisor import Running, Steps, Supervisor
from pressbox.entry.preparation import Preparation

PARTS = ("postgres", "temporal", "worker", "web")


def run_up(settings: Settings, *, verbose: bool, as_json: bool) -> None:
    follower = LogFollower(Home(settings.home).logs, PARTS, _say_aside) if verbose else None
    with Preparation(_load) as preparation:
        if settings.database.url:
            preparation.run(_check_database_url, settings.database.url.get_secret_value())
        Supervisor(settings, _steps(settings, preparation, as_json=as_json), follower=follower).run()


def _steps(settings: Settings, preparation: Preparation, *, as_json: bool) -> Steps:
    def migrate(endpoints: Endpoints) -> None:
        preparation.run(_migrate, endpoints)

    def prepare(endpoints: Endpoints) -> None:
        preparation.run(_apply_schedules, settings, endpoints)
        preparation.run(_settle_versions, settings, endpoints)

    def ready(running: Running) -> None:
        endpoints = running.endpoints
        link = None if settings.open or as_json else preparation.run(_setup_link, settings, endpoints)
        preparation.close()
        if as_json:
            # The password stays in the home; `database_url` here is for people and logs.
            typer.echo(endpoints.model_copy(update={"database_url": redact(endpoints.database_url)}).model_dump_json())
        else:
            typer.echo(announcement(running, product=f"Pressbox {release()}", setup_link=link))

    return Steps(migrate=migrate, prepare=prepare, ready=ready)


def _load() -> None:
    """What the first step needs; more would delay it, and all others wait for it."""
    collect_rarely()
    import pressbox.core.db.migrate  # noqa: F401


def _check_database_url(url: str) -> None:
    from pressbox.entry.wiring import check_database_url

    check_database_url(url)


def _migrate(endpoints: Endpoints) -> None:
    from pressbox.core.db.migrate import upgrade

    redact.add(*filter(None, [urlsplit(endpoints.database_url).password]))
    upgrade(endpoints.database_url)


def _apply_schedules(settings: Settings, endpoints: Endpoints) -> None:
    from pressbox.entry.wiring import apply_schedules

    asyncio.run(apply_schedules(settings, endpoints))


def _settle_versions(settings: Settings, endpoints: Endpoints) -> None:
    asyncio.run(_put_this_version_in_charge(settings, endpoints))


async def _put_this_version_in_charge(settings: Settings, endpoints: Endpoints) -> None:
    """The worker that `up` starts is the only one: it takes over whatever an earlier version began."""
    from pressbox.core.temporal.client import connect
    from pressbox.core.temporal.versions import Deployments, own_version

    if settings.temporal.address and not settings.worker.deployment:
        # Somebody else's server, of whose deployments we know nothing.
        return
    deployments = Deployments(await connect(settings.temporal, endpoints.temporal_address))
    await deployments.settle(own_version(settings.worker))


def _setup_link(settings: Settings, endpoints: Endpoints) -> str | None:
    """An address that makes the first account; None once there is one."""
    return asyncio.run(_create_setup_link(settings, endpoints))


async def _create_setup_link(settings: Settings, endpoints: Endpoints) -> str | None:
    from pressbox.core.accounts.service import AccountService
    from pressbox.core.accounts.setup import setup_address
    from pressbox.entry.wiring import open_resources

    async with open_resources(settings, endpoints) as resources:
        secret = await AccountService(resources.database, settings).create_setup_link()
    return setup_address(endpoints.web_url or "", secret) if secret else None


def _say_aside(line: str) -> None:
    typer.echo(line, err=True)
