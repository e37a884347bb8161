"""Which settings an administrator may set on pages: sections that the core and the applications declare."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pressbox.core.app import AppManifest, Resources
    from pressbox.core.config import Settings
    from pressbox.core.health import PartHealth


@dataclass(frozen=True)
class SettingField:
    """One setting as people see it. `name` is its place in the tree, such as `footy.api_key`.

    A secret names the settings by which it leaves in `sent_to`: whoever changes those has to enter it again, so that
    nobody can have a key that they do not know sent to a place of their own.
    """

    name: str
    label: str
    hint: str = ""
    kind: str = "text"
    choices: Mapping[str, str] = field(default_factory=dict)
    sent_to: tuple[str, ...] = ()

    @property
    def is_secret(self) -> bool:
        return self.kind == "password"

    @property
    def word(self) -> str:
        """Its name in a form."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class TestReport:
    """What the real thing answered, as a sentence to be translated with its values."""

    words: str
    values: Mapping[str, Any] = field(default_factory=dict)


# Of the settings as they would be, what cannot be used by name and why.
CheckSettings = Callable[["Settings"], Mapping[str, str]]
# Tries the settings of the resources; whoever asks has this e-mail address. A failure is an error of ours.
TrySettings = Callable[["Resources", str], Awaitable[TestReport]]


# What is known about the real thing without asking it now.
LoadHealth = Callable[["Resources"], Awaitable[Sequence["PartHealth"]]]


@dataclass(frozen=True)
class SettingsFile:
    """A file that an administrator brings, such as an exported login. The application reads and seals it.

    `keep` raises an InvalidInputError that says why a file is of no use.
    """

    label: str
    hint: str
    accept: str
    largest_bytes: int
    keep: Callable[[Resources, bytes], Awaitable[TestReport]]
    is_kept: Callable[[Resources], Awaitable[bool]]
    remove: Callable[[Resources], Awaitable[None]]


@dataclass(frozen=True)
class SettingsSection:
    """Settings that belong together, and how they are tried against the real thing."""

    key: str
    title: str
    summary: str
    fields: tuple[SettingField, ...]
    test: TrySettings
    # What the section needs at least, to be in use.
    required: tuple[str, ...] = ()
    check: CheckSettings = lambda _: {}
    file: SettingsFile | None = None
    health: LoadHealth | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.fields)


def declared_sections(manifests: Sequence[AppManifest]) -> tuple[SettingsSection, ...]:
    """Those of the applications, then those of the core."""
    from pressbox.core.stored_settings.own_section import INSTANCE

    return (*(section for manifest in manifests for section in manifest.sections()), INSTANCE)
