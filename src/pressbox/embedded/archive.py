"""The format of a backup: one tar.gz that begins with its format, ends with checksums, and is read with suspicion.

Format 2 added files of `secrets/`; a file of format 1 is read as before.
"""

import gzip
import hashlib
import io
import os
import re
import secrets
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import ConfigurationError, InvalidInputError, PermanentError
from pressbox.core.objects.store import check_key

FORMAT = 2
HEADER = "pressbox-backup"
MANIFEST = "manifest.json"
DATABASE = "database.dump"
TEMPORAL = "temporal.db"
SECRET_KEY = "secret-key"  # noqa: S105
OBJECTS = "objects/"
SECRETS = "secrets/"
_HEADER_TEXT = f"pressbox backup {FORMAT}\n".encode()
_HEADER_PATTERN = re.compile(rb"pressbox backup (\d{1,6})\n")
_SECRET_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}")
# The key is a member of its own, so that it can be left out.
_OF_THE_MACHINE = frozenset({SECRET_KEY, "postgres-password"})
_PIECE = 1024 * 1024
_SMALL_LIMIT = 50_000_000
_SPARE_BYTES = 100_000_000
_COMPRESSION = 3
_UNREADABLE = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile)


class Member(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    size: int
    sha256: str


class ArchiveManifest(BaseModel):
    """The last member: what must be there, bit for bit. A file that was cut off has none."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: int
    product_version: str
    created: datetime
    secret_key_included: bool
    # Tells, without giving it away, whether a key is the one that sealed rows of the database.
    secret_key_fingerprint: str = ""
    database_revision: str = ""
    not_included: tuple[str, ...] = ()
    members: tuple[Member, ...]

    def has(self, name: str) -> bool:
        return any(member.name == name for member in self.members)


class ArchiveWriter:
    """Adds files and remembers their checksums."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._members: list[Member] = []
        self._put(HEADER, io.BytesIO(_HEADER_TEXT), len(_HEADER_TEXT))

    def add(self, name: str, file: Path) -> None:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
            self._put(name, stream, size)
        self._members.append(Member(name=name, size=size, sha256=digest))

    def finish(
        self,
        *,
        product_version: str,
        created: datetime,
        secret_key_fingerprint: str,
        database_revision: str,
        not_included: tuple[str, ...],
    ) -> ArchiveManifest:
        manifest = ArchiveManifest(
            format=FORMAT,
            product_version=product_version,
            created=created,
            secret_key_included=any(member.name == SECRET_KEY for member in self._members),
            secret_key_fingerprint=secret_key_fingerprint,
            database_revision=database_revision,
            not_included=not_included,
            members=tuple(self._members),
        )
        text = manifest.model_dump_json(indent=1).encode()
        self._put(MANIFEST, io.BytesIO(text), len(text))
        return manifest

    def _put(self, name: str, stream: IO[bytes], size: int) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o600
        self._tar.addfile(entry, stream)


@contextmanager
def writing(file: Path) -> Iterator[ArchiveWriter]:
    """The archive appears under its name when it is complete and was read back; an interrupted one leaves nothing."""
    staged = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=_COMPRESSION) as tar:
                yield ArchiveWriter(tar)
            stream.flush()
            os.fsync(stream.fileno())
        check(staged)
        staged.replace(file)
    except OSError as error:
        raise ConfigurationError(
            f"The backup {file} cannot be written: {error.strerror or error}. Choose a folder that can be written and "
            "has room, also for scratch files (--scratch)."
        ) from error
    finally:
        # On a disk that cannot be written, removing what is not there fails too.
        with suppress(OSError):
            staged.unlink()


def check(file: Path) -> ArchiveManifest:
    """Read an archive to its end and compare all of it with its checksums; raises if anything differs."""
    with _reading(file) as tar:
        return _read_checked(tar, None, file)


def unpack(file: Path, folder: Path) -> ArchiveManifest:
    """Lay the archive out in an empty folder and check everything; raises before anything else is touched."""
    with _reading(file) as tar:
        return _read_checked(tar, folder, file)


@contextmanager
def _reading(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with gzip.open(file, "rb") as stream:
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                yield tar
            # To its end, so that the outer checksum is verified as well.
            while stream.read(_PIECE):
                pass
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InvalidInputError(f"There is no backup file {file}.") from error
    except _UNREADABLE as error:
        raise PermanentError(f"{file} is damaged or not a backup of Pressbox: {error}. Nothing was changed.") from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read or unpacked: {error.strerror or error}.") from error


def _read_checked(tar: tarfile.TarFile, folder: Path | None, file: Path) -> ArchiveManifest:
    """Without a folder, contents are only compared with their checksums."""
    found: dict[str, Member] = {}
    manifest: ArchiveManifest | None = None
    for index, entry in enumerate(tar):
        content = _content(tar, entry, file)
        if index == 0:
            _check_header(entry, content, file)
        elif manifest is not None or entry.name in found:
            raise _damaged_error(file, f"unexpected member {entry.name!r}")
        elif entry.name == MANIFEST:
            manifest = _manifest(content, entry, file)
        else:
            found[entry.name] = _read_member(entry, content, folder, file)
    if manifest is None:
        raise _damaged_error(file, "it ends too early")
    if {member.name: member for member in manifest.members} != found:
        raise _damaged_error(file, "its contents do not match their checksums")
    return manifest


def _content(tar: tarfile.TarFile, entry: tarfile.TarInfo, file: Path) -> IO[bytes]:
    content = tar.extractfile(entry) if entry.isreg() else None
    if content is None:
        raise _damaged_error(file, f"{entry.name!r} is not a plain file")
    return content


def _check_header(entry: tarfile.TarInfo, content: IO[bytes], file: Path) -> None:
    found = _HEADER_PATTERN.fullmatch(content.read(100))
    if entry.name != HEADER or found is None:
        raise _damaged_error(file, "it does not begin as a backup does")
    if int(found.group(1)) > FORMAT:
        raise PermanentError(
            f"{file} was written by a newer Pressbox. Restore it with that version. Nothing was changed."
        )


def _manifest(content: IO[bytes], entry: tarfile.TarInfo, file: Path) -> ArchiveManifest:
    if entry.size > _SMALL_LIMIT:
        raise _damaged_error(file, "its manifest is too large")
    try:
        return ArchiveManifest.model_validate_json(content.read())
    except ValidationError as error:
        raise _damaged_error(file, "its manifest cannot be read") from error


def _read_member(entry: tarfile.TarInfo, content: IO[bytes], folder: Path | None, file: Path) -> Member:
    name = _safe_name(entry.name, file)
    digest = hashlib.sha256()
    with ExitStack() as stack:
        output = stack.enter_context(_create(folder / name, entry.size, file)) if folder else None
        while piece := content.read(_PIECE):
            digest.update(piece)
            if output:
                output.write(piece)
    return Member(name=entry.name, size=entry.size, sha256=digest.hexdigest())


def _create(target: Path, size: int, file: Path) -> IO[bytes]:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if size > shutil.disk_usage(target.parent).free - _SPARE_BYTES:
        raise ConfigurationError(f"The disk of {target.parent} is too small for {file}. Free some space first.")
    return os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def is_secret_name(name: str) -> bool:
    """Whether a file of `secrets/` goes along: none that is being written, none that belongs to the machine."""
    return _SECRET_NAME.fullmatch(name) is not None and name not in _OF_THE_MACHINE and not name.endswith(".new")


def _safe_name(name: str, file: Path) -> str:
    if name in (DATABASE, TEMPORAL, SECRET_KEY):
        return name
    if name.startswith(SECRETS) and is_secret_name(name.removeprefix(SECRETS)):
        return name
    key = name.removeprefix(OBJECTS)
    try:
        if key != name:
            return OBJECTS + check_key(key)
    except InvalidInputError as error:
        raise _damaged_error(file, f"{name!r} is not a name of ours") from error
    raise _damaged_error(file, f"{name!r} is not a name of ours")


def _damaged_error(file: Path, reason: str) -> PermanentError:
    return PermanentError(f"{file} is damaged or not a backup of Pressbox: {reason}. Nothing was changed.")
