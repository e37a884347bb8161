"""Settings on pages: what is set, by whom, and how it is changed and tried."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from pydantic import SecretStr

from pressbox.core.accounts.audit import Action, AuditLog
from pressbox.core.accounts.models import Actor
from pressbox.core.app import AppManifest, Resources
from pressbox.core.config import Groups, Settings
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError, PressboxError, TransientError
from pressbox.core.health import PartHealth
from pressbox.core.stored_settings.overlay import (
    InvalidValuesError,
    is_from_environment,
    overlay,
    overlay_what_fits,
    value_of,
)
from pressbox.core.stored_settings.sections import (
    SettingField,
    SettingsFile,
    SettingsSection,
    TestReport,
    declared_sections,
)
from pressbox.core.stored_settings.store import Revision, Stored, StoredSettings
from pressbox.core.texts import require_line

LONGEST_TEST = timedelta(seconds=30)
LONGEST_VALUE = 2000
REMOVE = "remove_"
ENTER_AGAIN = "Enter it again: it would be sent to another place than before."
KEPT_BY_ENVIRONMENT = "The environment sets the secret that would be sent there, so it has to set this too."
NO_FILE = "Choose a file first."
FILE_TOO_LARGE = "The file is too large to be what is asked for here."
CHANGED_MEANWHILE = "Somebody changed these settings in the meantime. Look at them again, then save."


@dataclass(frozen=True)
class FieldView:
    """A field with what is set. Of a secret nobody sees more than that there is one."""

    field: SettingField
    value: str
    is_set: bool
    from_environment: bool
    stored: bool
    unreadable: bool


@dataclass(frozen=True)
class SectionView:
    """`has_file` and `parts` are loaded for the page of one section only."""

    section: SettingsSection
    fields: tuple[FieldView, ...]
    revision: str
    has_file: bool = False
    parts: Sequence[PartHealth] = ()

    @property
    def in_use(self) -> bool:
        return all(view.is_set for view in self.fields if view.field.name in self.section.required)

    @property
    def from_environment(self) -> bool:
        """Whether there is nothing left to set here."""
        return all(view.from_environment for view in self.fields)


class InvalidSectionError(PressboxError):
    """`problems` are texts by the name of the field in the form."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("Some of these cannot be used.")
        self.problems = problems


class SettingsService:
    def __init__(self, resources: Resources, manifests: Sequence[AppManifest]) -> None:
        self._resources = resources
        self._environment: Settings = resources.environment
        self._groups = settings_groups_of(manifests)
        self._sections = declared_sections(manifests)
        self._store = StoredSettings(resources.database, resources.environment)

    async def list(self) -> tuple[SectionView, ...]:
        stored = await self._store.load()
        return tuple(self._view(section, stored) for section in self._sections)

    async def view(self, key: str) -> SectionView:
        section, stored = self._find(key), await self._store.load()
        known = self._with_settings(stored)
        return replace(
            self._view(section, stored),
            has_file=section.file is not None and await section.file.is_kept(known),
            parts=await section.health(known) if section.health else (),
        )

    async def keep_file(self, key: str, content: bytes, actor: Actor) -> TestReport:
        """Hand a file to the application; an InvalidInputError says why it is of no use."""
        section, file = self._find_file(key)
        if not content:
            raise InvalidInputError(NO_FILE, field="file")
        if len(content) > file.largest_bytes:
            raise InvalidInputError(FILE_TOO_LARGE, field="file")
        report = await file.keep(self._with_settings(await self._store.load()), content)
        await AuditLog(self._resources.database).record(
            Action.SETTINGS_CHANGED, actor, None, section=section.key, set=file.label
        )
        return report

    async def remove_file(self, key: str, actor: Actor) -> None:
        section, file = self._find_file(key)
        await file.remove(self._with_settings(await self._store.load()))
        await AuditLog(self._resources.database).record(
            Action.SETTINGS_CHANGED, actor, None, section=section.key, removed=file.label
        )

    def largest_file(self, key: str) -> int:
        return self._find_file(key)[1].largest_bytes

    def _find_file(self, key: str) -> tuple[SettingsSection, SettingsFile]:
        section = self._find(key)
        if section.file is None:
            raise NotFoundError("These settings take no file.", key=key)
        return section, section.file

    def _with_settings(self, stored: Stored) -> Resources:
        settings, _ = overlay_what_fits(self._environment, self._groups, stored.values)
        return replace(self._resources, settings=settings)

    async def save(self, key: str, form: Mapping[str, str], actor: Actor) -> None:
        """Take what the form has. An empty secret stays as it is; anything else that is empty is removed."""
        section, stored = self._find(key), await self._store.load()
        if "revision" in form and form["revision"] != _revision_of(section, stored.revision):
            raise ConflictError(CHANGED_MEANWHILE)
        changes = {
            field.name: value
            for field in section.fields
            if not is_from_environment(self._environment, self._groups, field.name)
            for value in _changed_values(field, form, stored.values)
        }
        self._check(section, stored.values, changes)
        if changes:
            await self._store.change(section.key, changes, actor)

    async def try_out(self, key: str, email: str, actor: Actor) -> TestReport:
        """Try what is set against the real thing; an error of ours says what is wrong."""
        section, stored = self._find(key), await self._store.load()
        await AuditLog(self._resources.database).record(Action.SETTINGS_TRIED, actor, None, section=section.key)
        try:
            async with asyncio.timeout(LONGEST_TEST.total_seconds()):
                return await section.test(self._with_settings(stored), email)
        except TimeoutError as error:
            raise TransientError(f"No answer within {LONGEST_TEST.total_seconds():.0f} seconds.") from error

    def _check(self, section: SettingsSection, before: Mapping[str, str], changes: Mapping[str, str | None]) -> None:
        after = {name: value for name, value in {**before, **changes}.items() if value is not None}
        problems = _check_lines(changes) | self._check_places(section, before, after, changes)
        try:
            settings = overlay(self._environment, self._groups, after)
        except InvalidValuesError as error:
            own = {name: text for name, text in error.problems.items() if name in section.names}
            raise InvalidSectionError(_by_word(section, {**problems, **own})) from error
        problems = {**dict(section.check(settings)), **problems}
        if problems:
            raise InvalidSectionError(_by_word(section, problems))

    def _check_places(
        self,
        section: SettingsSection,
        before: Mapping[str, str],
        after: Mapping[str, str],
        changes: Mapping[str, str | None],
    ) -> dict[str, str]:
        """A secret goes only where it was meant to go by whoever knows it."""
        problems: dict[str, str] = {}
        for field in section.fields:
            moved = [name for name in field.sent_to if name in changes and before.get(name) != after.get(name)]
            if not moved:
                continue
            if is_from_environment(self._environment, self._groups, field.name):
                problems |= dict.fromkeys(moved, KEPT_BY_ENVIRONMENT)
            elif field.name in before and field.name not in changes:
                problems[field.name] = ENTER_AGAIN
        return problems

    def _view(self, section: SettingsSection, stored: Stored) -> SectionView:
        settings, _ = overlay_what_fits(self._environment, self._groups, stored.values)
        views = tuple(self._view_field(field, settings, stored) for field in section.fields)
        return SectionView(section, views, _revision_of(section, stored.revision))

    def _view_field(self, field: SettingField, settings: Settings, stored: Stored) -> FieldView:
        value = value_of(settings, self._groups, field.name)
        return FieldView(
            field=field,
            value="" if field.is_secret else _write(value),
            is_set=value is not None and value not in ("", ()),
            from_environment=is_from_environment(self._environment, self._groups, field.name),
            stored=field.name in stored.values,
            unreadable=field.name in stored.unreadable,
        )

    def _find(self, key: str) -> SettingsSection:
        found = next((section for section in self._sections if section.key == key), None)
        if found is None:
            raise NotFoundError("There are no such settings.", key=key)
        return found


def settings_groups_of(manifests: Sequence[AppManifest]) -> Groups:
    return {manifest.name: manifest.settings() for manifest in manifests if manifest.settings is not None}


def _changed_values(field: SettingField, form: Mapping[str, str], stored: Mapping[str, str]) -> Sequence[str | None]:
    """The new value of a field, if it has one; None removes what is stored."""
    text = form.get(field.word, "").strip()[:LONGEST_VALUE]
    if field.is_secret:
        if text:
            return [text]
        return [None] if form.get(f"{REMOVE}{field.word}") else []
    if field.word not in form or text == stored.get(field.name, ""):
        return []
    return [text or None]


def _check_lines(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Every setting is one line: keys and senders go into headers, where the next line would be another header."""
    problems = {}
    for name, value in changes.items():
        try:
            require_line(value or "", name)
        except InvalidInputError as error:
            problems[name] = error.message
    return problems


def _by_word(section: SettingsSection, problems: Mapping[str, str]) -> dict[str, str]:
    words = {field.name: field.word for field in section.fields}
    return {words[name]: text for name, text in problems.items() if name in words}


def _revision_of(section: SettingsSection, revision: Revision) -> str:
    return " ".join(changed.isoformat() for name, changed in revision if name in section.names)


def _write(value: Any) -> str:
    assert not isinstance(value, SecretStr)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
