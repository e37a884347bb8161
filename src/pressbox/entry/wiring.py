"""From settings to connected Resources, for every entry point."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError
from pressbox.core.http.client import GuardedClient
from pressbox.core.logs import redact
from pressbox.core.objects.factory import open_store
from pressbox.core.quotas.quota import check_limits
from pressbox.core.temporal.client import connect
from pressbox.embedded.home import Endpoints, Home
from pressbox.entry.manifests import manifests
from pressbox.entry.stored_settings import add_stored_settings

if TYPE_CHECKING:
    from temporalio.runtime import Runtime

    from pressbox.core.temporal.schedules import ScheduleOutcome


def find_database(settings: Settings) -> str:
    """Where PostgreSQL is, for what needs nothing else."""
    running = Home(settings.home).load_endpoints()
    url = settings.database.url.get_secret_value() if settings.database.url else None
    url = url or (running.database_url if running else None)
    if url is None:
        raise _unknown_part(settings, "PostgreSQL", "PRESSBOX_DATABASE_URL")
    check_database_url(url)
    return url


def _unknown_part(settings: Settings, part: str, setting: str) -> ConfigurationError:
    return ConfigurationError(
        f"No {part} is known: nothing runs on {settings.home}. Start it with `pressbox up`, or set {setting}."
    )


def find_endpoints(settings: Settings) -> Endpoints:
    """Where the parts are: what the settings name, else what `pressbox up` runs on this home."""
    database = find_database(settings)
    running = Home(settings.home).load_endpoints()
    temporal = settings.temporal.address or (running.temporal_address if running else None)
    if temporal is None:
        raise _unknown_part(settings, "Temporal", "PRESSBOX_TEMPORAL_ADDRESS")
    return Endpoints(
        database_url=database,
        temporal_address=temporal,
        temporal_ui_url=settings.temporal.ui_url or (running.temporal_ui_url if running else None),
        web_url=settings.web.public_url or (running.web_url if running else None),
        worker_health_url=running.worker_health_url if running else None,
    )


def check_database_url(url: str) -> None:
    # Its text may hold a password, so the message must not repeat it.
    if urlsplit(url).scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise ConfigurationError("PRESSBOX_DATABASE_URL must look like postgresql://user:password@host:5432/name.")


@asynccontextmanager
async def open_resources(
    settings: Settings, endpoints: Endpoints | None = None, *, lazy: bool = True, runtime: Runtime | None = None
) -> AsyncIterator[Resources]:
    """Connect. Lazily, a part that is away is noticed by whoever needs it, not here; a worker cannot be lazy.

    Whoever connects can open what is sealed: `with_secret_key`.
    """
    where = endpoints or find_endpoints(settings)
    # Afterwards: where nothing runs, that is to be said, and no key to be made.
    settings = with_secret_key(settings)
    redact.add(*filter(None, [urlsplit(where.database_url).password]))
    if settings.quotas:
        # Who declares quotas counts rows, so a process loads them only where somebody set one.
        from pressbox.core.quotas.declared import declared_quotas

        check_limits(settings.quotas, declared_quotas(manifests(settings)))
    database = Database(
        where.database_url.replace("postgres://", "postgresql://", 1),
        pool_size=settings.database.pool_size,
        quotas=settings.quotas,
    )
    home = Home(settings.home)
    temporal = await connect(settings.temporal, where.temporal_address, lazy=lazy, runtime=runtime)
    found = {"address": where.temporal_address, "ui_url": where.temporal_ui_url}
    known = settings.model_copy(update={"temporal": settings.temporal.model_copy(update=found)})
    try:
        used = await add_stored_settings(known, database)
        async with GuardedClient(used.http) as http:
            store = open_store(settings.objects, home.objects)
            resources = Resources(
                used, database, temporal, store, http, from_environment=known, manifests=manifests(used)
            )
            async with resources.exits:
                yield resources
    finally:
        await database.close()


def with_secret_key(settings: Settings) -> Settings:
    """The instance key from the settings, or the one that the home keeps.

    Beside a database that other machines use too, no process makes up a key of its own: what it sealed, nobody else
    could open. A process that seals nothing runs without; one that does, says that the key is missing.
    """
    home = Home(settings.home)
    if settings.secret_key is not None or (settings.database.url is not None and not home.secret_key_file.exists()):
        return settings
    key = home.secret_key()
    redact.add(key)
    return settings.model_copy(update={"secret_key": SecretStr(key)})


async def apply_schedules(settings: Settings, endpoints: Endpoints) -> dict[str, ScheduleOutcome]:
    """Make the schedules those that are declared."""
    from pressbox.core.temporal.schedules import declared_schedules, reconcile

    async with open_resources(settings, endpoints) as resources:
        return dict(await reconcile(resources, declared_schedules(resources, manifests(settings))))
