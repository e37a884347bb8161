"""The format of a backup: one tar.gz that begins with its format, ends with checksums, and is read with suspicion."""

import gzip
import hashlib
import io
import os
import secrets
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import ConfigurationError, InvalidInputError, PermanentError
from pressbox.core.objects.store import check_key

FORMAT = 1
HEADER = "pressbox-backup"
MANIFEST = "manifest.json"
DATABASE = "database.dump"
TEMPORAL = "temporal.db"
SECRET_KEY = "secret-key"  # noqa: S105
OBJECTS = "objects/"
_HEADER_TEXT = f"pressbox backup {FORMAT}\n".encode()
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
        self, *, product_version: str, created: datetime, secret_key_included: bool, not_included: tuple[str, ...]
    ) -> ArchiveManifest:
        manifest = ArchiveManifest(
            format=FORMAT,
            product_version=product_version,
            created=created,
            secret_key_included=secret_key_included,
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
    """The archive appears under its name when it is complete; an interrupted one leaves nothing."""
    staged = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=_COMPRESSION) as tar:
                yield ArchiveWriter(tar)
            stream.flush()
            os.fsync(stream.fileno())
        staged.replace(file)
    except OSError as error:
        raise ConfigurationError(
            f"The backup {file} cannot be written: {error.strerror or error}. Choose another place, or free some space."
        ) from error
    finally:
        staged.unlink(missing_ok=True)


def unpack(file: Path, folder: Path) -> ArchiveManifest:
    """Lay the archive out in an empty folder and check everything; raises before anything else is touched."""
    try:
        with gzip.open(file, "rb") as stream:
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                manifest = _extract_checked(tar, folder, file)
            # To its end, so that the outer checksum is verified as well.
            while stream.read(_PIECE):
                pass
            return manifest
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InvalidInputError(f"There is no backup file {file}.") from error
    except _UNREADABLE as error:
        raise PermanentError(f"{file} is damaged or not a backup of Pressbox: {error}. Nothing was changed.") from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be unpacked into {folder}: {error.strerror or error}.") from error


def _extract_checked(tar: tarfile.TarFile, folder: Path, file: Path) -> ArchiveManifest:
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
            found[entry.name] = _extract(entry, content, folder, file)
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
    text = content.read(100)
    if entry.name != HEADER or not text.startswith(b"pressbox backup "):
        raise _damaged_error(file, "it does not begin as a backup does")
    if text != _HEADER_TEXT:
        raise PermanentError(f"{file} was written by a newer Pressbox. Restore it with that version.")


def _manifest(content: IO[bytes], entry: tarfile.TarInfo, file: Path) -> ArchiveManifest:
    if entry.size > _SMALL_LIMIT:
        raise _damaged_error(file, "its manifest is too large")
    try:
        return ArchiveManifest.model_validate_json(content.read())
    except ValidationError as error:
        raise _damaged_error(file, "its manifest cannot be read") from error


def _extract(entry: tarfile.TarInfo, content: IO[bytes], folder: Path, file: Path) -> Member:
    target = folder / _safe_name(entry.name, file)
    if entry.size > shutil.disk_usage(folder).free - _SPARE_BYTES:
        raise ConfigurationError(f"The disk of {folder} is too small for {file}. Free some space first.")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with target.open("xb") as output:
        while piece := content.read(_PIECE):
            digest.update(piece)
            output.write(piece)
    return Member(name=entry.name, size=entry.size, sha256=digest.hexdigest())


def _safe_name(name: str, file: Path) -> str:
    if name in (DATABASE, TEMPORAL, SECRET_KEY):
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
