"""Every slice of the curator: a folder whose `wiring.py` ends with a `SLICE`, found by looking."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import pressbox.curator
from pressbox.curator.library.slice import Slice


def find_slices() -> Iterator[Slice]:
    """In the order of their names: nothing that they add depends on the order."""
    for folder in iter_modules(pressbox.curator.__path__, "pressbox.curator."):
        if folder.ispkg and any(part.name == "wiring" for part in iter_modules(import_module(folder.name).__path__)):
            found = getattr(import_module(f"{folder.name}.wiring"), "SLICE", None)
            if found is not None:
                yield found


SLICES: tuple[Slice, ...] = tuple(find_slices())
