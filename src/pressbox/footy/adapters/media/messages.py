"""What the worker and its media children say to each other: one line of JSON, then bytes if there are any."""

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from pressbox.footy.domain.candidates import Probe
from pressbox.footy.domain.fingerprints import PHASES

# The first line of a child: its libraries are loaded, and what happens from now on is about a file.
READY = b"ready\n"


class Task(StrEnum):
    PROBE = "probe"
    FINGERPRINT = "fingerprint"
    FRAMES = "frames"
    POSTER = "poster"
    PLAYABLE = "playable"


class Limits(BaseModel):
    """What one file may cost. Beyond it the child ends, not the worker."""

    model_config = ConfigDict(frozen=True)

    memory_bytes: int = 1_000_000_000
    processor_seconds: int = 120
    # By the clock on the wall: other work runs beside it, so this is generous and means a busy machine.
    waiting_seconds: int = 600
    written_bytes: int = 250_000_000


class Request(BaseModel):
    model_config = ConfigDict(frozen=True)

    task: Task
    path: Path
    processor_seconds: int
    fractions: tuple[float, ...] = ()
    phases: int = PHASES
    target: Path | None = None


class Refusal(StrEnum):
    UNUSABLE = "unusable"
    TOO_MUCH_MEMORY = "too much memory"
    MISSING = "missing"
    FAILED = "failed"


class Answer(BaseModel):
    """`parts` are the lengths of the pieces of bytes that follow the line."""

    model_config = ConfigDict(frozen=True)

    refusal: Refusal | None = None
    message: str = ""
    probe: Probe | None = None
    parts: tuple[int, ...] = ()
