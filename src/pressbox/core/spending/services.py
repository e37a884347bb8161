"""Paid services that an application may call; each manifest lists its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pressbox.core.config import Settings


@dataclass(frozen=True)
class PaidService:
    """A service that bills requests. `keys` are the settings by which it knows whom to bill."""

    name: str
    keys: tuple[str, ...]
    is_configured: Callable[[Settings], bool]
