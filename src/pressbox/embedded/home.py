"""The home folder: where everything that Pressbox keeps lies, who may read it, and how commands find running parts."""

import base64
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import ConfigurationError, PermanentError

MARKER = "pressbox-home"
# What the marker says of a home in which everything is its owner's alone; versions before left other permissions.
_PRIVATE = "private\n"
_FOLDERS = ("postgres", "temporal", "objects", "run", "logs", "secrets", "backups")
_PRIVATE_FOLDER = 0o700
# Another uid must pass through root's home to reach its cluster folder, but need not list it.
_ROOT_HOME_FOLDER = 0o711
_PRIVATE_FILE = 0o600

Model = TypeVar("Model", bound=BaseModel)


class Endpoints(BaseModel):
    """Where the parts of a running instance answer. Holds the database password, so its file is private."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    database_url: str
    temporal_address: str
    temporal_ui_url: str | None = None
    web_url: str | None = None
    worker_health_url: str | None = None


class Ports(BaseModel):
    """Ports that were free once and are tried first the next time, so that bookmarks stay true."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    postgres: int | None = None
    worker_health: int | None = None


class Home:
    """One instance's folder. Nothing is touched before `create()`."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.abspath(path.expanduser()))

    @property
    def postgres(self) -> Path:
        return self.path / "postgres"

    @property
    def temporal(self) -> Path:
        return self.path / "temporal"

    @property
    def objects(self) -> Path:
        return self.path / "objects"

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def secrets(self) -> Path:
        return self.path / "secrets"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def exists(self) -> bool:
        return (self.path / MARKER).exists()

    def create(self) -> None:
        """Make the folder and its rooms with the right permissions; does nothing wrong when they exist."""
        try:
            _make_reachable(self.path)
            self._refuse_strange_folder()
            _set_mode(self.path, _ROOT_HOME_FOLDER if os.geteuid() == 0 else _PRIVATE_FOLDER)
            for name in _FOLDERS:
                folder = self.path / name
                folder.mkdir(exist_ok=True)
                _set_mode(folder, _PRIVATE_FOLDER)
            self._tighten()
        except OSError as error:
            raise unusable_home(self.path, error) from error

    def secret_key(self) -> str:
        """The instance key: 32 random bytes in base64, made once. A key in the settings wins over it, elsewhere."""
        return self._kept_secret("secret-key", lambda: base64.b64encode(secrets.token_bytes(32)).decode())

    @property
    def secret_key_file(self) -> Path:
        return self.secrets / "secret-key"

    def database_password(self) -> str:
        """Password of the embedded PostgreSQL's only user, made once."""
        return self._kept_secret("postgres-password", lambda: secrets.token_urlsafe(24))

    def load_endpoints(self) -> Endpoints | None:
        """What the last `pressbox up` left; None when nothing runs on this home, or cannot be read."""
        return _load(self.run / "endpoints.json", Endpoints)

    def save_endpoints(self, endpoints: Endpoints) -> None:
        write_private(self.run / "endpoints.json", endpoints.model_dump_json(indent=2))

    def forget_endpoints(self) -> None:
        (self.run / "endpoints.json").unlink(missing_ok=True)

    def load_ports(self) -> Ports:
        return _load(self.path / "ports.json", Ports) or Ports()

    def remember_port(self, name: str, port: int) -> None:
        ports = self.load_ports()
        if getattr(ports, name) != port:
            write_private(self.path / "ports.json", ports.model_copy(update={name: port}).model_dump_json())

    def _tighten(self) -> None:
        """Once per home: take from everybody else what an earlier version, or a wide umask, let them do."""
        marker = self.path / MARKER
        if marker.exists() and marker.read_text() == _PRIVATE:
            return
        for folder, folders, files in os.walk(self.path):
            # PostgreSQL keeps its own folder private, under root as another user's.
            folders[:] = [name for name in folders if Path(folder, name) != self.postgres]
            for name in (*folders, *files):
                _close_to_others(Path(folder, name))
        write_private(marker, _PRIVATE)

    def _refuse_strange_folder(self) -> None:
        names = {entry.name for entry in self.path.iterdir()}
        if MARKER in names or names <= {*_FOLDERS, "ports.json"}:
            return
        # Changing the permissions of, say, a whole user's folder would do harm.
        raise ConfigurationError(
            f"{self.path} is not empty and was not made by Pressbox. Set PRESSBOX_HOME to a new or empty folder."
        )

    def _kept_secret(self, name: str, make: Callable[[], str]) -> str:
        path = self.secrets / name
        try:
            if path.exists():
                return path.read_text().strip()
            # Two processes may ask at once: the first to link its file wins, both read the same.
            staged = path.with_name(f".{name}.{secrets.token_hex(4)}")
            write_private(staged, make())
            with suppress(FileExistsError):
                os.link(staged, path)
            staged.unlink()
            return path.read_text().strip()
        except OSError as error:
            raise unusable_home(self.path, error) from error


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; only its owner may read it."""
    staged = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    finally:
        # On a disk that cannot be written, removing what is not there fails too.
        with suppress(OSError):
            staged.unlink()


def unusable_home(path: Path, error: OSError) -> PermanentError:
    """What to tell a person whose home folder does not work."""
    reason = (error.strerror or str(error)).lower()
    return ConfigurationError(
        f"The home folder {path} cannot be used: {reason}{f' ({error.filename})' if error.filename else ''}. "
        "Free some space, mend its permissions, or set PRESSBOX_HOME to another folder."
    )


def _make_reachable(path: Path) -> None:
    """Make a folder and those above it; through root's, the account of the database passes, whatever our umask."""
    missing = [parent for parent in path.parents if not parent.exists()]
    path.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        for parent in missing:
            parent.chmod(_ROOT_HOME_FOLDER)


def _close_to_others(path: Path) -> None:
    mode = path.lstat().st_mode
    if not stat.S_ISLNK(mode) and mode & 0o077:
        path.chmod(stat.S_IMODE(mode) & 0o700)


def _set_mode(path: Path, mode: int) -> None:
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)


def _load(path: Path, model: type[Model]) -> Model | None:
    try:
        return model.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
