"""Workers to which deploy/ gives no instance key start without one."""

import dataclasses

import pytest

from pressbox.core.app import Resources
from pressbox.core.config import TemporalSettings
from pressbox.core.errors import ConfigurationError
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.sealing import Seal
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.worker import build_workers
from pressbox.entry.manifests import APPLICATIONS
from tests.architecture.test_deploy import compose_services
from tests.conftest import Parts

KEYLESS = sorted(
    service["command"][2]
    for service in compose_services().values()
    if service["command"][0] == "worker" and "secret_key" not in service["secrets"]
)


@pytest.mark.parametrize("queue", KEYLESS)
async def test_a_worker_without_the_key_can_be_built(parts: Parts, resources: Resources, queue: str) -> None:
    bare = resources.settings.model_copy(update={"secret_key": None})
    # A client knows the workers that were built on it, and refuses another one for the same queue.
    client = await connect(TemporalSettings(), parts.temporal_address, lazy=False)
    found = dataclasses.replace(resources, settings=bare, temporal=client)
    own = [manifest for manifest in APPLICATIONS if queue in {each.name for each in manifest.queues}]
    (worker,) = build_workers(found, own, ProgressSink(found.database), [queue])
    assert worker.task_queue == queue


def test_without_a_key_nothing_is_sealed() -> None:
    for act in (Seal((), "toy").seal, Seal((), "toy").reveal):
        with pytest.raises(ConfigurationError, match="no instance key"):
            act(b"content")
