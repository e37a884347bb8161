"""Garbage is looked for rarely while a process starts, and as usual from then on."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import uvicorn
from pydantic import SecretStr

from pressbox.core.collection import collect_as_usual, collect_rarely
from pressbox.core.config import Settings, WorkerSettings
from pressbox.entry import web, worker

SECRET = SecretStr("the instance key of the tests, long enough")


@pytest.fixture
def usual() -> Iterator[Sequence[int]]:
    """The thresholds before a process starts; what was frozen is let go afterwards."""
    found = gc.get_threshold()
    collect_rarely()
    assert gc.get_threshold() != found
    yield found
    collect_as_usual()
    gc.unfreeze()


def test_a_web_process_that_has_started_collects_as_usual(
    tmp_path: Path, usual: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(*_: object) -> None:
        assert gc.get_threshold() != usual

    monkeypatch.setattr(uvicorn.Server, "startup", start)
    process = web.WebProcess(Settings(home=tmp_path, secret_key=SECRET))
    asyncio.run(web._Server(uvicorn.Config(process), process).startup())
    assert gc.get_threshold() == usual


def test_a_worker_that_has_started_collects_as_usual(
    tmp_path: Path, usual: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Sequence[int]] = []

    async def open_parts(*_: object) -> object:
        return type("Parts", (), {"database": None})()

    def build(*_: object) -> tuple[()]:
        seen.append(gc.get_threshold())
        return ()

    async def run(*given: object) -> None:
        seen.append(gc.get_threshold())
        stop = given[-1]
        assert isinstance(stop, asyncio.Event)
        stop.set()

    monkeypatch.setattr(worker, "_open_when_there", open_parts)
    monkeypatch.setattr(worker, "build_workers", build)
    monkeypatch.setattr(worker, "_run", run)
    settings = Settings(home=tmp_path, secret_key=SECRET, worker=WorkerSettings(health_port=0))
    asyncio.run(worker.run_worker(settings))
    assert seen[0] != usual
    assert seen[1] == usual
