"""A whole instance moves: backed up while it runs, restored elsewhere, and everything goes on there."""

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import WorkflowExecutionStatus

from pressbox.core.config import ObjectsSettings, TemporalSettings
from pressbox.core.environment import child_environment
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.client import connect
from pressbox.demo.contracts import DemoTreeWorkflowInput
from pressbox.demo.ids import QUEUE, tree_workflow_id
from pressbox.demo.instance import Instance, running_instance
from pressbox.demo.workflows.tree import DemoTreeWorkflow
from pressbox.embedded.home import Home
from pressbox.embedded.ports import free_port
from tests.other_user import open_to_others
from tests.patience import patience
from tests.waiting import look_until

EMAIL, CLIP = "reader@example.org", b"moving pictures" * 1000
WORD = "lemonferry"
SENTENCES = "".join(
    f"<p>The {WORD} crossed the sound for the {number}th time, with post and lemons.</p>" for number in range(40)
)
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour</title><link>{base}/</link>
<item><title>The {word} sails</title><link>{base}/story</link><guid>{base}/story</guid></item></channel></rss>"""


class Publisher(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        base = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
        page = (
            f"<html><head><title>Sails</title></head><body><article><h1>Sails</h1>{SENTENCES}</article></body></html>"
        )
        kind, text = (
            ("text/html", page) if self.path == "/story" else ("application/rss+xml", FEED.format(base=base, word=WORD))
        )
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Quietly."""


@contextmanager
def publishing() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Publisher)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def pressbox(home: Path, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pressbox", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=child_environment(PRESSBOX_HOME=str(home), PRESSBOX_HTTP_ALLOW="127.0.0.0/8"),
        timeout=patience(120),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment(**others: str) -> dict[str, str]:
    return {
        "PRESSBOX_DEMO": "1",
        "PRESSBOX_HTTP_ALLOW": "127.0.0.0/8",
        "PRESSBOX_WEB_PORT": str(free_port()),
        **others,
    }


def browser(instance: Instance) -> httpx.AsyncClient:
    base = instance.web_url
    return httpx.AsyncClient(base_url=base, headers={"Origin": base}, trust_env=False, timeout=patience(30))


async def finds_article(client: httpx.AsyncClient) -> bool:
    answer = await client.get("/api/curator/entries", params={"q": WORD})
    return answer.status_code == 200 and "/story" in answer.text


async def fill(instance: Instance, client: httpx.AsyncClient, password: str, publisher: str) -> None:
    """Something of everything that people keep here."""
    home = instance.home.path
    pressbox(home, "user", "add", EMAIL, "--admin", "--password-stdin", stdin=f"{password}\n")
    signed_in = await client.post("/sign-in", data={"email": EMAIL, "password": password})
    assert signed_in.status_code == 303
    pressbox(home, "feeds", "add", publisher)
    when = ("--start", "2031-05-01T19:30", "--timezone", "Europe/Berlin")
    pressbox(home, "soonish", "create", "Regatta", *when, "--organiser", EMAIL)
    channel = await client.post("/api/soonish/channels", json={"name": "Hook", "url": f"json{publisher[4:]}/hook"})
    assert channel.status_code == 201, channel.text
    await open_store(ObjectsSettings(), instance.home.objects).put("clips/one.mp4", CLIP)
    await look_until(lambda: finds_article(client), what="the article can be searched")


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_an_instance_moves_to_another_machine(reachable_folder: Path) -> None:
    password, file = secrets.token_urlsafe(16), reachable_folder / "moving.tar.gz"
    old, new = reachable_folder / "old", reachable_folder / "somewhere" / "else"
    with publishing() as publisher:
        with running_instance(old, log=None, **environment()) as instance:
            async with browser(instance) as client:
                await fill(instance, client, password, publisher)
                session = dict(client.cookies)
            temporal = await connect(TemporalSettings(), instance.endpoints.temporal_address)
            work = DemoTreeWorkflowInput(title="Travels", children=1, depth=1, steps=60, pause=timedelta(seconds=1))
            tree = tree_workflow_id("travels")
            await temporal.start_workflow(DemoTreeWorkflow.run, work, id=tree, task_queue=QUEUE)
            assert open_to_others(old) == []
            assert "read it back" in pressbox(old, "backup", str(file))
        old_password = Home(old).database_password()
        old.rename(reachable_folder / "gone")
        assert "is whole" in pressbox(reachable_folder / "nowhere", "backup", "--check", str(file))
        pressbox(new, "restore", str(file))
        assert Home(new).database_password() != old_password
        with running_instance(new, log=None, **environment(PRESSBOX_DATABASE_PORT=str(free_port()))) as instance:
            await check(instance, session, password)
            temporal = await connect(TemporalSettings(), instance.endpoints.temporal_address)
            handle = temporal.get_workflow_handle(tree)
            assert (await handle.describe()).status == WorkflowExecutionStatus.RUNNING
            await handle.terminate()
            assert open_to_others(new) == []


async def check(instance: Instance, session: dict[str, str], password: str) -> None:
    home = instance.home.path
    async with browser(instance) as client:
        client.cookies.update(session)
        assert (await client.get("/api/account")).json()["email"] == EMAIL, "the session goes on"
        feeds = (await client.get("/api/curator/feeds")).json()
        assert "Harbour" in json.dumps(feeds)
        assert "Regatta" in (await client.get("/api/soonish/events")).text
        assert [channel["name"] for channel in (await client.get("/api/soonish/channels")).json()] == ["Hook"]
        await look_until(lambda: finds_article(client), what="the rebuilt index finds the article")
    async with browser(instance) as stranger:
        assert (await stranger.post("/sign-in", data={"email": EMAIL, "password": password})).status_code == 303
    # It opens every seal before it seals anew.
    assert pressbox(home, "soonish", "rotate-key")
    assert await open_store(ObjectsSettings(), instance.home.objects).get("clips/one.mp4") == CLIP
