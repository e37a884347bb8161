"""How a function, its arguments and its result travel between a process and its child: as lines of JSON.

A call is two lines: the dotted name of the function, with its seconds of processor time, and its arguments. The answer
is two lines as well: `ok` and the result, or `failed` and the error. JSON and not pickles: what a child
answers after it has read a hostile file is data.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import GenericAlias
from typing import cast, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter

from pressbox.core.errors import InvalidInputError, PermanentError, PressboxError

READY = b"ready"
OK = b"ok"
FAILED = b"failed"

AnyFunction = Callable[..., object]


@dataclass(frozen=True)
class Limits:
    """What one call may cost. Whatever goes beyond it ends the child, never the caller."""

    # By the clock on the wall: a busy machine needs longer, so this is generous.
    seconds: float = 60
    result_bytes: int = 64_000_000
    # On top of what the child's libraries take, which differs between machines.
    memory_bytes: int | None = None
    # Of one call, whatever else the machine does.
    processor_seconds: int | None = None
    # Of one file that the call writes.
    file_bytes: int | None = None


@dataclass(frozen=True)
class Terms:
    """What differs between calls to one pool: whose turn it takes, and a budget below that of the pool."""

    owner: str = ""
    processor_seconds: int | None = None


class Plan(BaseModel):
    """What a child is told when it starts. `setup` runs before the first call."""

    model_config = ConfigDict(frozen=True)

    setup: str | None = None
    limits: Limits = Limits()


class CallFailedError(PermanentError):
    """The function raised an error that is not one of ours; `exception` is the name of its class.

    Every kind of running out of memory is named `MemoryError`.
    """

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(f"{exception}: {message}")
        self.exception = exception


class Failure(BaseModel):
    """An error on its way back. `ours` says that it is a class of Pressbox."""

    model_config = ConfigDict(frozen=True)

    name: str
    message: str
    field: str | None = None
    ours: bool = False

    @classmethod
    def from_error(cls, error: Exception) -> "Failure":
        if isinstance(error, PressboxError):
            field = error.field if isinstance(error, InvalidInputError) else None
            return cls(name=type(error).__name__, message=error.message, field=field, ours=True)
        if isinstance(error, MemoryError):
            return cls(name="MemoryError", message=str(error))
        return cls(name=type(error).__name__, message=str(error))

    def to_error(self) -> PressboxError:
        if not self.ours:
            return CallFailedError(self.name, self.message)
        found = _loaded_errors().get(self.name, PermanentError)
        if issubclass(found, InvalidInputError):
            return found(self.message, field=self.field)
        return found(self.message)


@dataclass(frozen=True)
class Signature:
    """The types of a function, which its annotations must name."""

    parameters: inspect.Signature
    arguments: TypeAdapter[tuple[object, ...]]
    result: TypeAdapter[tuple[object, ...]]


@cache
def signature_of(function: AnyFunction) -> Signature:
    hints = get_type_hints(function)
    result = hints.pop("return")
    return Signature(inspect.signature(function), _tuple_adapter(*hints.values()), _tuple_adapter(result))


def _tuple_adapter(*types: object) -> TypeAdapter[tuple[object, ...]]:
    together = cast(type[tuple[object, ...]], GenericAlias(tuple, types))
    return TypeAdapter(together, config=ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"))


def name_of(function: AnyFunction) -> str:
    """The dotted name by which a child finds a function of a module."""
    name = f"{function.__module__}:{function.__qualname__}"
    if find_function(name) is not function:
        raise ValueError(f"{name} is not a plain function of a module.")
    return name


@cache
def find_function(name: str) -> AnyFunction:
    module, _, function = name.partition(":")
    found: AnyFunction = getattr(import_module(module), function)
    return found


def _loaded_errors() -> dict[str, type[PressboxError]]:
    """Classes by name, of modules that this process has imported itself: a child cannot make it import another."""
    found: dict[str, type[PressboxError]] = {}
    waiting: list[type[PressboxError]] = [PressboxError]
    while waiting:
        error = waiting.pop()
        found[error.__name__] = error
        waiting.extend(error.__subclasses__())
    return found
