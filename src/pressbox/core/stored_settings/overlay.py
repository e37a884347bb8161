"""Lays what was set on pages under what the environment sets. Pure.

The environment wins: a variable that is set there hides the value of the page.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from pressbox.core.config import Group, Groups, Settings

Values = Mapping[str, str]


class InvalidValuesError(ValueError):
    """`problems` names the settings that cannot be used, and why."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("Settings cannot be used.")
        self.problems = problems


def is_from_environment(settings: Settings, groups: Groups, name: str) -> bool:
    """Whether a setting was set before anything was read from the database."""
    part, _, field = name.partition(".")
    return field in _group(settings, groups, part).model_fields_set


def value_of(settings: Settings, groups: Groups, name: str) -> Any:
    part, _, field = name.partition(".")
    return getattr(_group(settings, groups, part), field)


def overlay(settings: Settings, groups: Groups, values: Values) -> Settings:
    """The settings with these values where the environment sets none, or an InvalidValuesError."""
    problems: dict[str, str] = {}
    changed = settings
    for part in sorted({name.partition(".")[0] for name in values}):
        if part not in groups and part not in Settings.model_fields:
            continue
        group = _group(settings, groups, part)
        own = _of_part(values, part, group)
        try:
            made = type(group).model_validate({**_set_fields(group), **own})
        except ValidationError as error:
            problems |= {f"{part}.{item['loc'][0]}": item["msg"] for item in error.errors(include_url=False)}
            continue
        changed = changed.with_group(made) if part in groups else changed.model_copy(update={part: made})
    if problems:
        raise InvalidValuesError(problems)
    return changed


def overlay_what_fits(settings: Settings, groups: Groups, values: Values) -> tuple[Settings, tuple[str, ...]]:
    """The same, without the values that cannot be used; gives their names too."""
    try:
        return overlay(settings, groups, values), ()
    except InvalidValuesError as error:
        fitting = {name: value for name, value in values.items() if name not in error.problems}
        return overlay(settings, groups, fitting), tuple(sorted(error.problems))


def _of_part(values: Values, part: str, group: Group) -> dict[str, str]:
    own = {}
    for name, value in values.items():
        owner, _, field = name.partition(".")
        if owner == part and field in type(group).model_fields and field not in group.model_fields_set:
            own[field] = value
    return own


def _set_fields(group: Group) -> dict[str, Any]:
    return {name: getattr(group, name) for name in group.model_fields_set}


def _group(settings: Settings, groups: Groups, part: str) -> Group:
    if part in groups:
        return settings.group(groups[part])
    found = getattr(settings, part)
    assert isinstance(found, Group), part
    return found
