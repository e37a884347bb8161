"""A worker as it is at the moment before it is killed: what its workflows report is still in its memory."""

import asyncio
import sys
from unittest import mock

from pressbox.core.progress.sink import ProgressSink
from pressbox.entry import worker
from pressbox.entry.settings import prepare_settings


async def write_nothing(sink: ProgressSink) -> None:
    """Keep all reports."""


async def look_for_nothing(*_: object) -> None:
    """Leave to the next worker what this one does not write."""


if __name__ == "__main__":
    mock.patch.object(ProgressSink, "flush", write_nothing).start()
    mock.patch.object(worker, "recover_reports", look_for_nothing).start()
    asyncio.run(worker.run_worker(prepare_settings(), sys.argv[1:]))
