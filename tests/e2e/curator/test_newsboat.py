"""A real reader app on the real API: newsboat fetches feeds and articles, and what is read there is read here."""

import asyncio
import os
import pty
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.reading.domain import ListKind, Selection
from tests.apps.install import find_newsboat
from tests.fakes.reader import NOW, Library
from tests.fakes.reader_apps import reader_site, served
from tests.waiting import look_until

ENTER = b"\r"
# A machine that does other things as well is slow, not wrong.
PATIENCE = 20.0
PAUSE = 0.05


@dataclass(frozen=True)
class Newsboat:
    """The program with a home of its own. The source called FeedHQ is the one with a settable address."""

    program: str
    home: Path

    def set_up(self, url: str, email: str, password: str) -> None:
        lines = [
            'urls-source "feedhq"',
            f'feedhq-url "{url}"',
            f'feedhq-login "{email}"',
            f'feedhq-password "{password}"',
            "confirm-exit no",
            "show-read-feeds yes",
            "show-read-articles no",
            "article-sort-order date-desc",
            "feedhq-show-special-feeds no",
        ]
        (self.home / "config").write_text("\n".join(lines) + "\n")

    @property
    def arguments(self) -> list[str]:
        home = self.home
        return [
            self.program,
            "-C",
            str(home / "config"),
            "-c",
            str(home / "cache.db"),
            "-l",
            "2",
            "-d",
            str(home / "log"),
        ]

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8"}

    async def run(self, *commands: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *self.arguments,
            "-x",
            *commands,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 0, output.decode()
        return output.decode().strip()

    @asynccontextmanager
    async def on_a_terminal(self) -> AsyncIterator["Terminal"]:
        ours, theirs = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *self.arguments, env=self.environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        os.set_blocking(ours, False)
        terminal = Terminal(ours)
        # Read all the time: a program whose screen nobody takes off its hands stands still.
        asyncio.get_running_loop().add_reader(ours, terminal.read)
        try:
            yield terminal
            terminal.press(b"Q")
            await asyncio.wait_for(process.wait(), PATIENCE)
        finally:
            asyncio.get_running_loop().remove_reader(ours)
            if process.returncode is None:
                process.kill()
                await process.wait()
            os.close(ours)


@dataclass
class Terminal:
    ours: int
    seen: bytes = b""

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    async def shows(self, text: str) -> None:
        async def screen() -> bytes:
            return self.seen

        await look_until(screen, lambda seen: text.encode() in seen, f"{text} on the screen of newsboat")

    def read(self) -> None:
        try:
            self.seen += os.read(self.ours, 65536)
        except OSError:
            # The program has ended, and its side of the terminal with it.
            asyncio.get_running_loop().remove_reader(self.ours)


@pytest.fixture
def newsboat(tmp_path: Path) -> Newsboat:
    program = find_newsboat()
    if program is None:
        assert not os.environ.get("CI"), "In CI newsboat must be there: python -m tests.apps.install"
        pytest.skip("newsboat is not installed: apt install newsboat, or brew install newsboat")
    shutil.rmtree(tmp_path / "newsboat", ignore_errors=True)
    home = tmp_path / "newsboat"
    (home / ".newsboat").mkdir(parents=True)
    return Newsboat(program, home)


# A program of its own is started five times.
@pytest.mark.limit(900)
async def test_newsboat_fetches_feeds_and_articles_and_what_is_read_there_is_read_here(
    resources: Resources, settings: Settings, newsboat: Newsboat
) -> None:
    library = Library(resources)
    anna = await library.person()
    async with library.database.unit_of_work() as work:
        row = await work.session.get(UserRow, anna)
        assert row is not None
        email = row.email
    feed = await library.feed(anna, title="The Harbour Post")
    quay = await library.entry(feed, "A new quay", at=NOW - timedelta(days=400), body="<p>It is long.</p>")
    ferry = await library.entry(feed, "The ferry is late", at=NOW - timedelta(days=401), body="<p>Again.</p>")
    await library.service.states.mark_read(anna, [await library.entry(feed, "Read long ago")])
    password = (await library.service.apps.add_password(anna, "newsboat")).secret

    async def is_read(entry: int) -> bool:
        return (await library.service.reading.load_item(anna, entry)).read

    async with reader_site(library, settings) as app, served(app) as url:
        newsboat.set_up(url, email, password)
        await newsboat.run("reload")
        assert await newsboat.run("print-unread") == "2 unread articles"
        async with newsboat.on_a_terminal() as terminal:
            await terminal.shows("The Harbour Post")
            terminal.press(ENTER)
            await terminal.shows("A new quay")
            # The list begins with the article that is longest unread.
            terminal.press(ENTER)
            await terminal.shows("Again.")
            # An article counts as read with the next key that is pressed in it.
            terminal.press(b"q")
            await look_until(lambda: is_read(ferry), what="reading the article here")
        assert not await is_read(quay)
        assert await newsboat.run("print-unread") == "1 unread articles"
        async with newsboat.on_a_terminal() as terminal:
            await terminal.shows("The Harbour Post")
            terminal.press(b"A")
            await look_until(lambda: is_read(quay), what="reading the feed here")
        # And the other way: what becomes unread here is unread there after the next reload.
        await library.service.states.mark_read(anna, [quay], read=False)
        await newsboat.run("reload")
        assert await newsboat.run("print-unread") == "1 unread articles"
        page = await library.service.reading.load_entries(anna, Selection(ListKind.UNREAD))
        assert [item.id for item in page.items] == [quay]
