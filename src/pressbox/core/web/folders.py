"""Where the pages' files are: in folders called `templates`, `static` and `translations`, anywhere in a package."""

from functools import cache
from importlib.resources import files
from pathlib import Path

CORE_PACKAGE = "pressbox.core.web"


@cache
def find_folders(package: str, name: str) -> tuple[Path, ...]:
    """All folders of this name in a package: the application's own, and those of its slices."""
    root = Path(str(files(package)))
    return tuple(sorted(folder for folder in root.rglob(name) if folder.is_dir()))
