"""One `pressbox up` per home, and who holds it."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import ConflictError
from pressbox.embedded.home import Home, unusable_home


class LockHolder(BaseModel):
    """Written into the lock file, for the people and commands that find it taken."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    pid: int
    web_url: str | None = None


class InstanceLock:
    """Held by the kernel for us: it falls with our process, however that ends."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._descriptor: int | None = None

    @property
    def path(self) -> Path:
        return self._home.run / "up.lock"

    def __enter__(self) -> "InstanceLock":
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise unusable_home(self._home.path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise ConflictError(self._taken_text()) from None
        self._descriptor = descriptor
        self.describe(LockHolder(pid=os.getpid()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def describe(self, holder: LockHolder) -> None:
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, holder.model_dump_json().encode(), 0)

    def _taken_text(self) -> str:
        holder = read_holder(self._home)
        where = f" at {holder.web_url}" if holder and holder.web_url else ""
        who = f" (pid {holder.pid})" if holder else ""
        stop = f"`kill {holder.pid}`" if holder else "Ctrl-C in its terminal"
        return (
            f"Pressbox already runs on this home{who}{where}. Home: {self._home.path}. "
            f"Stop it with {stop}, or set PRESSBOX_HOME to another folder for a second instance."
        )


def read_holder(home: Home) -> LockHolder | None:
    try:
        return LockHolder.model_validate_json((home.run / "up.lock").read_bytes())
    except (OSError, ValidationError):
        return None


def is_running(home: Home) -> bool:
    """Does any `pressbox up` hold this home now?"""
    try:
        descriptor = os.open(home.run / "up.lock", os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
