"""How often Python looks for garbage while a process starts."""

import gc

# What modules, routes and models make while they load stays for good: looking through it again and again took a fifth
# of the start.
_WHILE_STARTING = (100_000, 50, 100)
_USUAL = gc.get_threshold()


def collect_rarely() -> None:
    """Call it before the large imports of a process."""
    gc.set_threshold(*_WHILE_STARTING)


def collect_as_usual() -> None:
    """Call it when the process has started; what its start left behind goes now."""
    gc.collect()
    gc.set_threshold(*_USUAL)
