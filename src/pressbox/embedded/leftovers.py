"""The record of what `up` started, and cleaning up after one that was killed."""

import signal

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.logs import get_logger
from pressbox.embedded.home import Home, write_private
from pressbox.embedded.processes import ManagedProcess, ProcessRecord

_STOP = ((signal.SIGTERM, 4.0),)

log = get_logger(__name__)


class PartRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    process: ProcessRecord
    log: str


class PartRecords(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    parts: tuple[PartRecord, ...] = ()


def load_parts(home: Home) -> PartRecords:
    try:
        return PartRecords.model_validate_json((home.run / "parts.json").read_bytes())
    except (FileNotFoundError, ValidationError):
        return PartRecords()


def save_parts(home: Home, records: PartRecords) -> None:
    write_private(home.run / "parts.json", records.model_dump_json(indent=2))


def forget_parts(home: Home) -> None:
    (home.run / "parts.json").unlink(missing_ok=True)


def stop_leftovers(home: Home, names: frozenset[str]) -> None:
    """Stop what an earlier `up` left running under these names. A stranger that got the pid since is left alone."""
    for record in load_parts(home).parts:
        process = record.process.find() if record.name in names else None
        if process:
            log.warning("leftover_stopped", msg=f"An earlier {record.name} was still running", pid=process.pid)
            ManagedProcess(process).stop(_STOP)
