"""Workers that are back a moment after they were killed: a process that has loaded everything forks them again.

Each argument is the task queue of one worker; a queue that is named twice has two, as in an installation with several:
while one comes back the other goes on. `footy:activities` and `footy:workflows` are workers that do only that.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any
from unittest import mock

from temporalio.worker import Worker
from temporalio.workflow import ActivityConfig

from pressbox.core.app import AppManifest
from pressbox.core.config import Settings
from pressbox.core.environment import load_settings
from pressbox.core.logs import configure_logs
from pressbox.core.temporal import calls
from pressbox.core.temporal import worker as temporal_worker
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import BEST_EFFORT
from pressbox.delivery.adapters.apprise_child import list_services
from pressbox.delivery.adapters.apprise_sender import fork_server
from pressbox.entry import worker
from pressbox.entry.manifests import manifests, settings_groups
from tests.patience import patience

# In seconds. A killed activity is noticed when its time is over, and there are many kills.
LONGEST = patience(2)
MISSED = patience(10)
BEAT = 0.3
PAUSE = 0.1
LOCAL = frozenset({"get_app_settings"})


def hurry() -> None:
    """Shorten what is waited for. Whatever heartbeats keeps its time, and is missed sooner."""
    declared = calls.call_options

    def hurried_call(activity: Callable[..., Any]) -> calls.CallOptions:
        options = declared(activity)
        return replace(options, config=hurried(options.config))

    mock.patch.object(calls, "call_options", hurried_call).start()
    rounds = calls.call_until_success.__kwdefaults__
    assert rounds is not None
    rounds["pauses"] = calls.Pauses(first=timedelta(seconds=PAUSE))
    mock.patch.object(calls, "BEST_EFFORT", hurried(BEST_EFFORT)).start()
    defaults = Heartbeat.__init__.__kwdefaults__
    assert defaults is not None
    defaults["every_seconds"] = BEAT
    # The library holds heartbeats back until most of the limit has passed, which a busy machine overruns.
    prompt = partial(Worker, max_heartbeat_throttle_interval=timedelta(seconds=BEAT))
    mock.patch.object(temporal_worker, "Worker", prompt).start()


def hurried(options: ActivityConfig) -> ActivityConfig:
    policy = options["retry_policy"]
    assert policy is not None
    changed = ActivityConfig(**options)
    changed["retry_policy"] = replace(policy, initial_interval=timedelta(seconds=PAUSE))
    if changed.get("heartbeat_timeout"):
        changed["heartbeat_timeout"] = timedelta(seconds=MISSED)
    else:
        changed["start_to_close_timeout"] = timedelta(seconds=LONGEST)
    return changed


def only(part: str, known: AppManifest) -> AppManifest:
    if part == "activities":
        return replace(known, workflows=lambda: {})
    return replace(known, activities=lambda resources: called_locally(known.activities(resources)))


def called_locally(
    activities: Mapping[str, Sequence[Callable[..., Any]]],
) -> Mapping[str, Sequence[Callable[..., Any]]]:
    """What workflows call in their own process has to be where they are."""
    return {queue: [method for method in methods if method.__name__ in LOCAL] for queue, methods in activities.items()}


def forked(settings: Settings, name: str) -> int:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        queue, _, part = name.partition(":")
        if part:
            mock.patch.object(
                worker, "manifests", lambda known: tuple(only(part, one) for one in manifests(known))
            ).start()
        if part == "workflows":
            # Otherwise it would take activities from the queue that it does not know, and fail them.
            alone = partial(Worker, no_remote_activities=True)
            mock.patch.object(temporal_worker, "Worker", alone).start()
        asyncio.run(worker.run_worker(settings, [queue]))
        os._exit(0)
    return child


def load_what_workers_load(settings: Settings, queues: Collection[str]) -> None:
    """Otherwise each child would load it again: workflows with their activities, tables, and what speaks HTTP."""
    for known in manifests(settings):
        if any(queue.name in queues for queue in known.queues):
            known.workflows()
            for table in known.tables:
                import_module(table)
    import_module("pressbox.core.http.exchange")


def main(queues: list[str]) -> None:
    settings = load_settings(groups=settings_groups(), dotenv=None)
    configure_logs(settings)
    load_what_workers_load(settings, {queue.partition(":")[0] for queue in queues})
    if "soonish" in queues:
        # All workers share it: none has to load the plugins again.
        asyncio.run(fork_server().run(list_services))
    if any(queue.startswith(("footy", "curator", "digest")) for queue in queues):
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
