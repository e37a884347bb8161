"""`pressbox backup`: what cannot be made again, in one archive, also while everything runs."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError, NotFoundError, PermanentError
from pressbox.core.logs import get_logger
from pressbox.core.objects.factory import open_store
from pressbox.core.objects.store import CACHE_FOLDER, ObjectStore
from pressbox.core.scratch import ScratchFolder
from pressbox.embedded import archive
from pressbox.embedded.archive import ArchiveManifest, ArchiveWriter
from pressbox.embedded.database_dump import database_revision, dump_database
from pressbox.embedded.home import Home
from pressbox.embedded.instance_lock import InstanceLock, is_running
from pressbox.embedded.postgres import EmbeddedPostgres

SCRATCH = ".pressbox-backup-"

log = get_logger(__name__)


def write_backup(
    settings: Settings, file: Path, *, product_version: str, with_secret_key: bool = True, scratch: Path | None = None
) -> ArchiveManifest:
    """Write the archive and read it back; gives its manifest, which also says what it does not contain.

    Temporal is copied before the database: after a restore, work that was already done may be done again, which our
    activities bear; the other way round, work would be missing. Objects come last, since rows point to them.
    """
    home = Home(settings.home)
    if not home.exists and not settings.database.url:
        raise ConfigurationError(
            f"There is nothing to back up: {home.path} is not a home of Pressbox. Check PRESSBOX_HOME."
        )
    missing: list[str] = []
    # Beside the archive, where there is room for it; /tmp may be small.
    with (
        archive.writing(file.absolute()) as writer,
        ScratchFolder(SCRATCH, scratch or file.absolute().parent) as folder,
    ):
        with _database_url(settings, home) as url:
            _add_temporal(settings, home, writer, folder, missing)
            revision = database_revision(url)
            dump_database(url, folder / archive.DATABASE)
        writer.add(archive.DATABASE, folder / archive.DATABASE)
        asyncio.run(_add_objects(open_store(settings.objects, home.objects), writer, folder))
        _add_secrets(home, writer)
        manifest = writer.finish(
            product_version=product_version,
            created=datetime.now(UTC),
            secret_key_fingerprint=_add_secret_key(settings, home, writer, missing, wanted=with_secret_key),
            database_revision=revision,
            not_included=tuple(missing),
        )
    log.info("backup_written", msg=f"Backup written to {file}", members=len(manifest.members))
    return manifest


def key_fingerprint(key: str) -> str:
    """Enough to recognise a key, and slow enough that nobody guesses a short one from it."""
    return hashlib.scrypt(key.strip().encode(), salt=b"pressbox backup", n=2**14, r=8, p=1, dklen=16).hex()


@contextmanager
def _database_url(settings: Settings, home: Home) -> Iterator[str]:
    """The external or running database; or the embedded one, started for the while."""
    if settings.database.url:
        yield settings.database.url.get_secret_value()
        return
    if is_running(home):
        endpoints = home.load_endpoints()
        if endpoints is None:
            raise PermanentError("Pressbox is just starting or stopping on this home. Try again in a moment.")
        yield endpoints.database_url
        return
    with InstanceLock(home):
        postgres = EmbeddedPostgres(home, settings.database.port)
        postgres.start(adopt=False)
        try:
            yield postgres.url
        finally:
            postgres.stop()


def _add_temporal(settings: Settings, home: Home, writer: ArchiveWriter, scratch: Path, missing: list[str]) -> None:
    if settings.temporal.address:
        missing.append("the workflows: they lie on the external Temporal; back that up with its own tools")
        return
    source = home.temporal / "temporal.db"
    if not source.exists():
        missing.append("workflows: Temporal has not run on this home yet")
        return
    copy = scratch / archive.TEMPORAL
    with (
        closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True, timeout=30)) as live,
        closing(sqlite3.connect(copy)) as target,
    ):
        live.backup(target)
        said = target.execute("PRAGMA quick_check(1)").fetchone()
    if said != ("ok",):
        raise PermanentError(f"Temporal's state {source} is damaged, so it cannot be backed up: {said[0]}.")
    writer.add(archive.TEMPORAL, copy)
    copy.unlink()


async def _add_objects(store: ObjectStore, writer: ArchiveWriter, scratch: Path) -> None:
    staged = scratch / "object"
    async for info in store.list():
        if info.key.startswith(f"{CACHE_FOLDER}/"):
            continue
        try:
            with staged.open("wb") as output:
                async for piece in store.stream(info.key):
                    output.write(piece)
        except NotFoundError:
            # Deleted since it was listed.
            continue
        writer.add(archive.OBJECTS + info.key, staged)


def _add_secrets(home: Home, writer: ArchiveWriter) -> None:
    """What applications keep beside the key, such as a login. The password of the database belongs to the machine."""
    if not home.secrets.exists():
        return
    for file in sorted(home.secrets.iterdir()):
        if file.is_file() and archive.is_secret_name(file.name):
            writer.add(archive.SECRETS + file.name, file)


def _add_secret_key(settings: Settings, home: Home, writer: ArchiveWriter, missing: list[str], *, wanted: bool) -> str:
    """Give the fingerprint of the key, whether or not it is in the archive."""
    if settings.secret_key is not None:
        missing.append("the secret key: it is given by PRESSBOX_SECRET_KEY; keep that yourself")
        return key_fingerprint(settings.secret_key.get_secret_value())
    if not home.exists:
        missing.append("the secret key: this process has none; keep the one of the others yourself")
        return ""
    key = home.secret_key()
    if wanted:
        writer.add(archive.SECRET_KEY, home.secret_key_file)
    else:
        missing.append(f"the secret key, as you asked; keep {home.secret_key_file} yourself")
    return key_fingerprint(key)
