"""Workers that are back a moment after they were killed: a process that has loaded everything forks them again."""

import asyncio
import os
import signal
import sys
from types import FrameType

from pressbox.core.config import Settings, load_settings
from pressbox.core.logs import configure_logs
from pressbox.entry.worker import run_worker
from pressbox.soonish.adapters.apprise_sender import _load_plugins

# While one comes back the other goes on, as in an installation with several.
WORKERS = 2


def forked(settings: Settings) -> int:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        asyncio.run(run_worker(settings, ["soonish"]))
        os._exit(0)
    return child


def main() -> None:
    settings = load_settings(dotenv=None)
    configure_logs(settings)
    _load_plugins()
    children: set[int] = set()

    def stop(number: int, frame: FrameType | None) -> None:
        for child in children:
            os.kill(child, signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    children.update(forked(settings) for _ in range(WORKERS))
    while True:
        ended, status = os.wait()
        children.discard(ended)
        if not os.WIFSIGNALED(status):
            sys.exit("A worker ended although nobody killed it.")
        children.add(forked(settings))


if __name__ == "__main__":
    main()
