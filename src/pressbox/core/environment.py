"""Reads the settings from the environment and `.env`. This is the only module that does.

A field `group.name` is set by `PRESSBOX_GROUP_NAME`; a secret also by `PRESSBOX_GROUP_NAME_FILE`, which names a
file that holds it. The bare names of the original documents work as aliases.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from dotenv import dotenv_values
from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from pressbox.core.config import NO_GROUPS, PREFIX, AnyGroup, BareName, Group, Groups, Settings
from pressbox.core.errors import ConfigurationError

# Settings of earlier releases, and why they are gone.
REMOVED: Mapping[str, str] = {
    "PRESSBOX_TEMPORAL_PORT": "the embedded Temporal has no ports any more",
    "PRESSBOX_TEMPORAL_UI_PORT": "the embedded Temporal has no ports any more; its web UI is at /temporal/",
}


@dataclass(frozen=True)
class Variable:
    """One settable field: where it is in the tree and how it is called in the environment."""

    path: tuple[str, ...]
    name: str
    aliases: tuple[str, ...]
    secret: bool
    field: FieldInfo

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


def variables(groups: Groups = NO_GROUPS) -> tuple[Variable, ...]:
    """Every setting of the core, then those of the given groups of applications."""
    own = {name: field for name, field in Settings.model_fields.items() if name != "applications"}
    return (*_walk(own, ()), *(found for name, kind in groups.items() for found in _walk(kind.model_fields, (name,))))


def _walk(fields: Mapping[str, FieldInfo], path: tuple[str, ...]) -> Iterator[Variable]:
    for name, field in fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            yield from _walk(kind.model_fields, (*path, name))
            continue
        yield Variable(
            path=(*path, name),
            name=PREFIX + "_".join((*path, name)).upper(),
            aliases=tuple(item.name for item in field.metadata if isinstance(item, BareName)),
            secret=_is_secret(kind),
            field=field,
        )


def _is_secret(kind: object) -> bool:
    return kind is SecretStr or (get_origin(kind) is not None and SecretStr in get_args(kind))


def load_settings(
    environment: Mapping[str, str] | None = None, *, groups: Groups = NO_GROUPS, dotenv: Path | None = Path(".env")
) -> Settings:
    """Read the tree, or raise one ConfigurationError that names every wrong variable."""
    merged = _dotenv(dotenv) | dict(os.environ if environment is None else environment)
    known, problems = variables(groups), list[str]()
    tree: dict[str, Any] = {}
    for variable in known:
        value = _value(variable, merged, problems)
        if value is not None:
            _put(tree, variable.path, value)
    names = {variable.path: variable.name for variable in known}
    own = {name: value for name, value in tree.items() if name not in groups}
    applications = tuple(_validate(kind, tree.get(name, {}), (name,), names, problems) for name, kind in groups.items())
    settings = _validate(Settings, own, (), names, problems)
    if problems:
        raise ConfigurationError("Settings cannot be used:\n  " + "\n  ".join(problems))
    return settings.model_copy(update={"applications": applications})


def _validate(
    kind: type[AnyGroup],
    values: dict[str, Any],
    path: tuple[str, ...],
    names: Mapping[tuple[str, ...], str],
    problems: list[str],
) -> AnyGroup:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        for item in error.errors(include_url=False, include_input=False):
            place = (*path, *(str(part) for part in item["loc"]))
            name = names.get(place[:2]) or names.get(place[:1]) or ".".join(place)
            problems.append(f"{name}: {item['msg']}")
        return kind()


def unknown_variables(
    environment: Mapping[str, str] | None = None, *, groups: Groups = NO_GROUPS, dotenv: Path | None = Path(".env")
) -> tuple[str, ...]:
    """Names that begin with PRESSBOX_ and mean nothing; `explain_unknown` says why."""
    merged = _dotenv(dotenv) | dict(os.environ if environment is None else environment)
    known = {name for variable in variables(groups) for name in variable.names}
    known |= {variable.name + "_FILE" for variable in variables(groups) if variable.secret}
    return tuple(sorted(name for name in merged if name.startswith(PREFIX) and name not in known))


def explain_unknown(name: str) -> str:
    """What is the matter with a variable that means nothing, and what to do about it."""
    reason = REMOVED.get(name)
    if reason:
        return f"{name} was removed: {reason}. Unset it."
    return f"{name} is not a setting of Pressbox, most likely a typing error; docs/settings.md has all names."


def child_environment(**overrides: str) -> dict[str, str]:
    """Our environment for a child process of ours, with some settings changed."""
    return {**os.environ, **overrides}


def _dotenv(path: Path | None) -> dict[str, str]:
    if path is None or not path.is_file():
        return {}
    return {name: value for name, value in dotenv_values(path).items() if value is not None}


def _value(variable: Variable, environment: Mapping[str, str], problems: list[str]) -> str | None:
    for name in variable.names:
        if environment.get(name, "") != "":
            return environment[name]
    file = environment.get(variable.name + "_FILE", "") if variable.secret else ""
    if not file:
        return None
    try:
        return Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        problems.append(f"{variable.name}_FILE: cannot read {file}: {getattr(error, 'strerror', None) or 'not text'}")
        return None


def _put(tree: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


# What a child needs of our environment: how to find programs, libraries and folders, and how to write. Keys, addresses
# and passwords of the instance are no part of it, since a stranger's file may take a child over.
_FOR_CHILDREN = re.compile(
    r"PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|USER|VIRTUAL_ENV|LD_LIBRARY_PATH|XDG_CACHE_HOME"
    r"|PYTHON(?:PATH|HOME|UTF8|IOENCODING|DONTWRITEBYTECODE|PYCACHEPREFIX|HASHSEED|NOUSERSITE|MALLOC)"
    r"|(?:OMP|OPENBLAS|MKL|NUMEXPR|RAYON)_NUM_THREADS"
)


# There are as many children as may work at the same time. Threads of their arithmetic would wait for each other, which
# takes ten times as long on a busy machine.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}

# How a window finds the screen of whoever started us.
_FOR_WINDOWS = re.compile(r"DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR")


def browser_environment() -> dict[str, str]:
    """The environment of a browser, which may have to open a window."""
    return bare_environment() | {name: value for name, value in os.environ.items() if _FOR_WINDOWS.fullmatch(name)}


def bare_environment() -> dict[str, str]:
    """The environment of a child process that reads what strangers wrote."""
    return _ONE_THREAD | {name: value for name, value in os.environ.items() if _FOR_CHILDREN.fullmatch(name)}
