"""`pressbox restore`: check the archive, build everything aside, then swap it in."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from pressbox.core.config import ObjectsSettings, Settings
from pressbox.core.db.versions import knows
from pressbox.core.errors import ConfigurationError, ConflictError, PermanentError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.objects.factory import open_store
from pressbox.core.objects.store import ObjectStore
from pressbox.embedded import archive
from pressbox.embedded.archive import ArchiveManifest
from pressbox.embedded.backup import key_fingerprint
from pressbox.embedded.database_dump import load_database, plain_url
from pressbox.embedded.home import Home, write_private
from pressbox.embedded.instance_lock import InstanceLock
from pressbox.embedded.postgres import EmbeddedPostgres
from pressbox.embedded.swap import STAGING_PREFIX, Swap, swap_in, undo_interrupted

log = get_logger(__name__)


# Made from the rest by those who use it, and wrong beside restored rows.
_REBUILT = ("index",)


def restore_backup(
    settings: Settings, file: Path, *, product_version: str, force: bool = False, with_other_key: bool = False
) -> ArchiveManifest:
    """Bring a home, and what the settings name outside it, to the state of the archive.

    Refuses while Pressbox runs, on anything that is not empty unless forced, and without the key that sealed what is
    in the archive. What lies in the home is swapped as a whole at the end; an external database changes in one
    transaction.
    """
    home = Home(settings.home)
    home.create()
    with InstanceLock(home), _staging_folder(home) as staging:
        if not force:
            _require_empty(settings, home)
        unpacked = staging / "unpacked"
        unpacked.mkdir(mode=0o700)
        manifest = archive.unpack(file, unpacked)
        _require_known_version(manifest, product_version)
        if not with_other_key:
            _require_key(settings, home, manifest, unpacked)
        swaps = [
            *_build_database(settings, home, staging, unpacked),
            *_temporal(settings, home, manifest, unpacked),
            *asyncio.run(_build_objects(settings, home, manifest, staging, unpacked)),
            *_secrets(settings, home, manifest, unpacked),
            *(Swap(place=home.path / name) for name in _REBUILT),
        ]
        _load_external_database(settings, unpacked)
        swap_in(swaps, staging)
    log.info("backup_restored", msg=f"Restored {file}", created=manifest.created.isoformat())
    return manifest


@contextmanager
def _staging_folder(home: Home) -> Iterator[Path]:
    """Inside the home, so that swapping is renaming."""
    undo_interrupted(home.path)
    folder = Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=home.path))
    # The account of the database passes through to the cluster that is built here.
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _require_empty(settings: Settings, home: Home) -> None:
    full = [place for place in (home.postgres / "data", home.temporal / "temporal.db") if place.exists()]
    if full:
        raise ConflictError(
            f"{home.path} already holds data ({full[0]}). Set PRESSBOX_HOME to an empty folder, or replace everything "
            "in it with --force; make a backup of it first."
        )
    if settings.database.url and _has_tables(settings.database.url.get_secret_value()):
        raise ConflictError(
            "The database of PRESSBOX_DATABASE_URL already holds Pressbox data. Replace it with --force."
        )
    key = asyncio.run(_any_object(open_store(settings.objects, home.objects)))
    if key is not None:
        raise ConflictError(f"The object store is not empty (it has {key}). Replace what is there with --force.")


async def _any_object(store: ObjectStore) -> str | None:
    async for info in store.list():
        return info.key
    return None


def _has_tables(url: str) -> bool:
    try:
        with psycopg.connect(plain_url(url), connect_timeout=10) as connection:
            found = connection.execute("SELECT 1 FROM information_schema.schemata WHERE schema_name = 'core'")
            return found.fetchone() is not None
    except psycopg.OperationalError as error:
        raise TransientError("The database of PRESSBOX_DATABASE_URL does not answer.") from error


def _require_known_version(manifest: ArchiveManifest, ours: str) -> None:
    if _numbers(manifest.product_version) > _numbers(ours):
        raise PermanentError(
            f"The backup was made by Pressbox {manifest.product_version}; this is {ours}. "
            "Install that version or a newer one, then restore. Nothing was changed."
        )

    if manifest.database_revision and not knows(manifest.database_revision):
        raise PermanentError(
            f"The backup's database has version {manifest.database_revision}, which this Pressbox does not know yet. "
            f"Install {manifest.product_version}, which wrote it, or a newer one, then restore. Nothing was changed."
        )


def _require_key(settings: Settings, home: Home, manifest: ArchiveManifest, unpacked: Path) -> None:
    """Sealed rows (addresses of subscribers, second factors, logins) are worth nothing without the key of the seal."""
    if not manifest.secret_key_fingerprint:
        return
    if settings.secret_key is not None:
        key, place = settings.secret_key.get_secret_value(), "PRESSBOX_SECRET_KEY"
    elif manifest.secret_key_included:
        key, place = (unpacked / archive.SECRET_KEY).read_text(), "the backup"
    elif home.secret_key_file.exists():
        key, place = home.secret_key_file.read_text(), str(home.secret_key_file)
    else:
        raise ConfigurationError(
            "The backup was made without its secret key, and what that key sealed cannot be read with another. Put the "
            f"key into {home.secret_key_file} or PRESSBOX_SECRET_KEY; or go on without it (--with-other-key). "
            "Nothing was changed."
        )
    if key_fingerprint(key) != manifest.secret_key_fingerprint:
        raise ConfigurationError(
            f"The secret key of {place} is not the one that the backup was made with, and what that one sealed cannot "
            "be read with another. Give the old key; or go on with this one (--with-other-key). Nothing was changed."
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("+")[0].split(".") if part.isdigit())


def _build_database(settings: Settings, home: Home, staging: Path, unpacked: Path) -> Iterator[Swap]:
    """A fresh cluster with the dump in it, in a home of its own inside the staging folder."""
    if settings.database.url:
        return
    aside = Home(staging / "home")
    aside.create()
    write_private(aside.secrets / "postgres-password", home.database_password())
    postgres = EmbeddedPostgres(aside)
    postgres.start()
    try:
        load_database(postgres.url, unpacked / archive.DATABASE, replace=False)
    finally:
        postgres.stop()
    yield Swap(place=home.postgres / "data", new=postgres.data)


def _load_external_database(settings: Settings, unpacked: Path) -> None:
    if settings.database.url:
        load_database(settings.database.url.get_secret_value(), unpacked / archive.DATABASE, replace=True)


def _temporal(settings: Settings, home: Home, manifest: ArchiveManifest, unpacked: Path) -> Iterator[Swap]:
    if settings.temporal.address:
        return
    for suffix in ("-wal", "-shm"):
        yield Swap(place=home.temporal / f"temporal.db{suffix}")
    yield Swap(
        place=home.temporal / "temporal.db",
        new=unpacked / archive.TEMPORAL if manifest.has(archive.TEMPORAL) else None,
    )


async def _build_objects(
    settings: Settings, home: Home, manifest: ArchiveManifest, staging: Path, unpacked: Path
) -> list[Swap]:
    keys = [member.name for member in manifest.members if member.name.startswith(archive.OBJECTS)]
    local = settings.objects.bucket is None
    store: ObjectStore = open_store(ObjectsSettings() if local else settings.objects, staging / "objects")
    for name in keys:
        await store.put(name.removeprefix(archive.OBJECTS), unpacked / name)
    return [Swap(place=home.objects, new=staging / "objects")] if local else []


def _secrets(settings: Settings, home: Home, manifest: ArchiveManifest, unpacked: Path) -> Iterator[Swap]:
    if settings.secret_key is None and manifest.secret_key_included:
        yield Swap(place=home.secret_key_file, new=unpacked / archive.SECRET_KEY)
    for member in manifest.members:
        if member.name.startswith(archive.SECRETS):
            yield Swap(place=home.secrets / member.name.removeprefix(archive.SECRETS), new=unpacked / member.name)
