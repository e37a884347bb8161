"""Stores the login at X: its cookies, encrypted on disk, and never those of other hosts."""

import json
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError
from pressbox.core.sealing import Seal
from pressbox.footy.settings import FootySettings

FILE = "x-session"
PURPOSE = "footy session at X"
LOGIN_COOKIE = "auth_token"


class Cookie(BaseModel):
    """A cookie in the browser's own form."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    name: str
    value: str = Field(repr=False)
    domain: str
    path: str = "/"
    expires: float = -1
    http_only: bool = Field(False, alias="httpOnly")
    secure: bool = True

    def is_for(self, host: str) -> bool:
        domain = self.domain.lstrip(".").lower()
        return host == domain or host.endswith(f".{domain}")


class StoredSession:
    def __init__(self, folder: Path, seal: Seal, host: str) -> None:
        self._path = folder / FILE
        self._seal = seal
        self._host = host

    def load(self) -> Sequence[Cookie]:
        """Empty when nobody has logged in."""
        try:
            content = self._seal.reveal(self._path.read_bytes())
        except FileNotFoundError:
            return ()
        try:
            return self._own(Cookie.model_validate(item) for item in json.loads(content))
        except (ValueError, ValidationError) as error:
            raise ConfigurationError("The stored login at X cannot be read. Run `pressbox x login` again.") from error

    def save(self, cookies: Iterable[Cookie]) -> None:
        own = [cookie.model_dump(by_alias=True) for cookie in self._own(cookies)]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(self._seal.seal(json.dumps(own).encode()))
        new.replace(self._path)

    def remove(self) -> None:
        """Forget the login. At X it stays valid until somebody signs out there."""
        self._path.unlink(missing_ok=True)

    def seal_again(self) -> int:
        """Seal the session with the present instance key; return 1, or 0 when nobody has logged in."""
        cookies = self.load()
        if cookies:
            self.save(cookies)
        return 1 if cookies else 0

    def _own(self, cookies: Iterable[Cookie]) -> Sequence[Cookie]:
        return tuple(cookie for cookie in cookies if cookie.is_for(self._host))


def is_logged_in(cookies: Iterable[Cookie]) -> bool:
    return any(cookie.name == LOGIN_COOKIE and cookie.value for cookie in cookies)


def login_end(cookies: Iterable[Cookie]) -> datetime | None:
    """When the login ends by itself; None when the browser was not told."""
    ends = [cookie.expires for cookie in cookies if cookie.name == LOGIN_COOKIE and cookie.expires > 0]
    return datetime.fromtimestamp(min(ends), UTC) if ends else None


def open_session(settings: Settings) -> StoredSession:
    host = urlsplit(settings.group(FootySettings).x_page_url).hostname or ""
    return StoredSession(settings.secrets, Seal(settings.secret_keys, PURPOSE), host.lower())
