"""Pages, clips, feeds and recorded answers of others, read where they lie: beside the repository, never copied into it.

Where the folder is absent, some of our own making stand in. The header of every run says which it used.
"""

import os
from pathlib import Path

FOLDER = Path(os.environ.get("SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")


def shared(name: str) -> Path | None:
    """The folder of that name, if it is there."""
    folder = FOLDER / name
    return folder if folder.is_dir() else None


def describe_shared_data() -> str:
    if FOLDER.is_dir():
        return f"shared data: real pages, clips, feeds and recorded answers from {FOLDER}"
    return f"shared data: not in {FOLDER} (set SHARED_DATA), so ours stand in for those of others"
