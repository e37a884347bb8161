"""The embedded Temporal against its real binary: state survives a crash, ports give way, no orphan."""

import os
import signal
import socket
from collections.abc import Iterator

import pytest
from temporalio.client import Client

from pressbox.core.errors import ConfigurationError
from pressbox.embedded.home import Home
from pressbox.embedded.temporal_server import EmbeddedTemporal


@pytest.fixture
def temporal(home: Home) -> Iterator[EmbeddedTemporal]:
    server = EmbeddedTemporal(home)
    server.start()
    yield server
    server.stop()


async def test_workflows_survive_kill_minus_nine_on_the_same_address(temporal: EmbeddedTemporal) -> None:
    address = temporal.address
    client = await Client.connect(address)
    started = await client.start_workflow("NobodyRunsThis", id="kept", task_queue="nobody")
    assert temporal.pid is not None
    os.kill(temporal.pid, signal.SIGKILL)
    temporal.start()
    assert temporal.address == address
    described = await (await Client.connect(address)).get_workflow_handle("kept").describe()
    assert described.run_id == started.result_run_id


def test_a_second_handle_takes_over_the_running_server(temporal: EmbeddedTemporal, home: Home) -> None:
    second = EmbeddedTemporal(home)
    second.start()
    assert (second.pid, second.address, second.ui_url) == (temporal.pid, temporal.address, temporal.ui_url)


async def test_a_namespace_of_our_own_is_made(home: Home) -> None:
    server = EmbeddedTemporal(home, namespace="newsroom")
    server.start()
    try:
        client = await Client.connect(server.address, namespace="newsroom")
        assert [run async for run in client.list_workflows()] == []
    finally:
        server.stop()


def test_stopping_leaves_no_record_and_no_answer(home: Home) -> None:
    server = EmbeddedTemporal(home)
    server.start()
    assert server.answers()
    assert server.version[0].isdigit()
    server.stop()
    assert not server.answers()
    assert list(home.run.iterdir()) == []


def test_a_chosen_port_that_is_taken_is_named_with_its_setting(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"{port}.*PRESSBOX_TEMPORAL_UI_PORT"):
            EmbeddedTemporal(home, ui_port=port).start()
