"""A stop of the web process while somebody follows live updates: it ends soon and without an alarm in the log."""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import httpx

from pressbox.embedded.ports import free_port
from tests.conftest import Parts
from tests.patience import patience
from tests.waiting import look_until

PROGRAM = Path(sys.executable).with_name("pressbox")


async def test_an_open_stream_ends_with_the_process(parts: Parts, database_url: str, tmp_path: Path) -> None:
    port = free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRESSBOX_")},
        "PRESSBOX_HOME": str(tmp_path / "home"),
        "PRESSBOX_DATABASE_URL": database_url,
        "PRESSBOX_TEMPORAL_ADDRESS": parts.temporal_address,
        "PRESSBOX_WEB_PORT": str(port),
        "PRESSBOX_OPEN": "1",
    }
    web = await asyncio.create_subprocess_exec(PROGRAM, "web", env=environment, cwd=tmp_path, stderr=PIPE, stdout=PIPE)
    try:
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=patience(60)
        ) as client:

            async def ready() -> bool:
                assert web.returncode is None
                try:
                    return (await client.get("/readyz")).status_code == 200
                except httpx.TransportError:
                    return False

            await look_until(ready, what="web is ready")
            async with client.stream("GET", "/api/stream?topics=workflow") as stream:
                assert stream.status_code == 200
                chunks = stream.aiter_bytes()
                await anext(chunks)
                web.send_signal(signal.SIGTERM)
                # The end of the answer, and no broken connection.
                async for _ in chunks:
                    pass
    finally:
        if web.returncode is None:
            web.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in (await web.communicate())[1].splitlines()]
    # The server ends by the signal that it was sent.
    assert web.returncode in (0, -signal.SIGTERM)
    assert [line for line in lines if line["level"] in ("error", "critical") or "exception" in line] == []


async def test_a_web_that_cannot_start_ends_with_1(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PRESSBOX_")},
            "PRESSBOX_HOME": str(tmp_path / "home"),
            "PRESSBOX_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing",
            "PRESSBOX_TEMPORAL_ADDRESS": "127.0.0.1:9",
            "PRESSBOX_WEB_PORT": str(taken.getsockname()[1]),
        }
        web = await asyncio.create_subprocess_exec(PROGRAM, "web", env=environment, cwd=tmp_path, stderr=PIPE)
        try:
            _, said = await web.communicate()
        finally:
            if web.returncode is None:
                web.kill()
    assert web.returncode == 1, said
