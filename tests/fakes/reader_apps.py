"""A reader app that speaks to the real web application, and the application with a library of articles behind it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx
import uvicorn
from fastapi import FastAPI

from pressbox.core.accounts.rows import UserRow
from pressbox.core.config import Settings
from pressbox.curator.manifest import APP
from tests.fakes.reader import Library
from tests.site import ORIGIN, serving
from tests.waiting import until

API = "/reader/api/0"
Pairs = Sequence[tuple[str, str]]


@dataclass
class ReaderApp:
    """Signed in with an app password, as apps do it."""

    client: httpx.AsyncClient
    email: str
    password: str
    auth: str = ""
    base: str = ""

    async def sign_in(self) -> httpx.Response:
        wish = {"Email": self.email, "Passwd": self.password, "service": "reader"}
        answer = await self.client.post(f"{self.base}/accounts/ClientLogin", data=wish)
        self.auth = next((line[5:] for line in answer.text.splitlines() if line.startswith("Auth=")), "")
        return answer

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"GoogleLogin auth={self.auth}"}

    async def get(self, path: str, pairs: Pairs = ()) -> httpx.Response:
        return await self.client.get(f"{self.base}{API}/{path}", params=list(pairs), headers=self.headers)

    async def post(self, path: str, pairs: Pairs = ()) -> httpx.Response:
        headers = self.headers | {"Content-Type": "application/x-www-form-urlencoded"}
        return await self.client.post(f"{self.base}{API}/{path}", content=urlencode(pairs), headers=headers)

    async def json(self, path: str, pairs: Pairs = ()) -> Any:
        answer = await self.get(path, [*pairs, ("output", "json")])
        assert answer.status_code == 200, answer.text
        return answer.json()


def reader_site(library: Library, settings: Settings) -> AbstractAsyncContextManager[FastAPI]:
    return serving(library.resources, settings, [APP], library.overrides())


@asynccontextmanager
async def reader_app(app: FastAPI, library: Library, user_id: int, name: str = "phone") -> AsyncIterator[ReaderApp]:
    async with library.database.unit_of_work() as work:
        row = await work.session.get(UserRow, user_id)
        assert row is not None
        email = row.email
    made = await library.service.apps.add_password(user_id, name)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("127.0.0.1", 5000))
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        reader = ReaderApp(client, email, made.secret)
        assert (await reader.sign_in()).status_code == 200
        yield reader


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The application on a port of this machine, for apps that are programs of their own."""
    config = uvicorn.Config(app, port=0, log_config=None, proxy_headers=False, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    task = asyncio.create_task(server._serve([listener]))
    await until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()
