"""Workers that are back a moment after they were killed: a process that has loaded everything forks them again.

Each argument is the task queue of one worker; a queue that is named twice has two, as in an installation with several:
while one comes back the other goes on. `footy:activities` and `footy:workflows` are workers that do only that.
"""

import asyncio
import os
import signal
import sys
from collections.abc import MutableMapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from types import FrameType
from typing import cast
from unittest import mock

from pressbox.core.app import AppManifest
from pressbox.core.config import Settings, load_settings
from pressbox.core.logs import configure_logs
from pressbox.core.temporal import worker as temporal_worker
from pressbox.core.temporal.heartbeat import Heartbeater
from pressbox.entry import worker
from pressbox.entry.manifests import manifests
from pressbox.footy.workflows import acting
from pressbox.footy.workflows.options import LIMITS, Limits
from pressbox.soonish.adapters.apprise_sender import _load_plugins

# Of footy, in seconds. A killed activity is noticed when its time is over, and there are many kills.
LONGEST = 2.0
MISSED = 5.0
BEAT = 0.3
PAUSE = 0.1


def hurry() -> None:
    """Shorten what footy waits for. Whatever beats its heart keeps its time, and is missed sooner."""
    limits = cast("MutableMapping[str, Limits]", LIMITS)
    for name, known in list(limits.items()):
        shorter = replace(known, heartbeat=MISSED) if known.heartbeat else replace(known, seconds=LONGEST)
        limits[name] = replace(shorter, first_pause=PAUSE)
    defaults = Heartbeater.__init__.__kwdefaults__
    assert defaults is not None
    defaults["every_seconds"] = BEAT
    # The library holds heartbeats back until most of the limit has passed, which a busy machine overruns.
    prompt = partial(temporal_worker.Worker, max_heartbeat_throttle_interval=timedelta(seconds=BEAT))
    mock.patch.object(temporal_worker, "Worker", prompt).start()
    acting.FIRST_PAUSE = timedelta(seconds=PAUSE)


def only(part: str, known: AppManifest) -> AppManifest:
    return replace(known, workflows={}) if part == "activities" else replace(known, activities=lambda _: {})


def forked(settings: Settings, name: str) -> int:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        queue, _, part = name.partition(":")
        if part:
            mock.patch.object(
                worker, "manifests", lambda known: tuple(only(part, one) for one in manifests(known))
            ).start()
        asyncio.run(worker.run_worker(settings, [queue]))
        os._exit(0)
    return child


def main(queues: list[str]) -> None:
    settings = load_settings(dotenv=None)
    configure_logs(settings)
    if "soonish" in queues:
        _load_plugins()
    if any(queue.startswith("footy") for queue in queues):
        hurry()
    children: dict[int, str] = {}

    def stop(number: int, frame: FrameType | None) -> None:
        for child in children:
            os.kill(child, signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    children.update({forked(settings, queue): queue for queue in queues})
    while True:
        ended, status = os.wait()
        queue = children.pop(ended)
        if not os.WIFSIGNALED(status):
            sys.exit(f"A worker of {queue} ended although nobody killed it.")
        children[forked(settings, queue)] = queue


if __name__ == "__main__":
    main(sys.argv[1:])
