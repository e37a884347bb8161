"""A fourth application is a package and one line: page, setting, command, schedule, static file and words follow."""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import httpx
import pytest

from pressbox.core.app import AppManifest, Resources
from pressbox.core.config import Settings
from pressbox.core.environment import load_settings
from pressbox.core.temporal.schedules import ScheduleOutcome, declared_schedules, reconcile, remove
from pressbox.core.web.app import create_app
from pressbox.entry import manifests
from tests.integration.web.conftest import Browse

FILES = {
    "__init__.py": "",
    "settings.py": """
        from pydantic import Field

        from pressbox.core.config import Group


        class ChoirSettings(Group):
            voices: int = Field(4, description="How many sing.")
    """,
    "pages.py": """
        from fastapi import APIRouter, Request
        from fastapi.responses import HTMLResponse

        from choir.settings import ChoirSettings
        from pressbox.core.web.pages.access import Parts
        from pressbox.core.web.rendering import render

        router = APIRouter(include_in_schema=False)


        @router.get("/choir")
        async def page(request: Request, parts: Parts) -> HTMLResponse:
            return render(request, "choir/index.html", voices=parts.settings.group(ChoirSettings).voices)
    """,
    "cli.py": """
        import typer

        commands = typer.Typer(help="Songs.")


        @commands.command()
        def count(context: typer.Context) -> None:
            from choir.settings import ChoirSettings

            typer.echo(f"{context.obj.settings().group(ChoirSettings).voices} voices")
    """,
    "manifest.py": """
        from pressbox.core.app import AppManifest, CommandWord, NavigationEntry, ScheduleDeclaration, import_later


        def settings():
            from choir.settings import ChoirSettings

            return ChoirSettings


        def schedules(settings):
            from datetime import timedelta

            from pressbox.core.contracts import Contract

            rehearsal = ScheduleDeclaration(
                id="choir-rehearsal",
                workflow="RehearsalWorkflow",
                workflow_id="choir-rehearsal",
                task_queue="choir",
                input=Contract(),
                summary="Sings",
                every=timedelta(days=1),
            )
            return (rehearsal,)


        def router():
            from choir.pages import router

            return router


        APP = AppManifest(
            name="choir",
            title="Choir",
            summary="Songs for many voices.",
            package="choir",
            settings=settings,
            schedules=schedules,
            router=router,
            commands=(CommandWord("choir", "Songs.", import_later("choir.cli:commands")),),
            navigation=NavigationEntry(title="Choir", path="/choir", key="c", icon="bell"),
        )
    """,
    "templates/index.html": """
        {% extends "base.html" %}
        {% block head %}<link rel="stylesheet" href="{{ static_url('choir.css') }}">{% endblock %}
        {% block content %}<h1>{{ _("Choir") }}: {{ voices }}</h1>{% endblock %}
    """,
    "static/choir.css": "h1 { color: var(--accent); }",
    "translations/de.po": """
        msgid ""
        msgstr "Content-Type: text/plain; charset=utf-8\\n"

        msgid "Choir"
        msgstr "Chor"
    """,
}
# What a person writes into `entry/manifests.py`.
ONE_LINE = "manifests.APPLICATIONS = (*manifests.APPLICATIONS, import_module('choir.manifest').APP)"
PROGRAM = f"""
from importlib import import_module
from pressbox.entry import manifests
{ONE_LINE}
from pressbox.entry.cli import main
main()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "packages" / "choir" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip())
    return tmp_path / "packages"


@pytest.fixture
def choir(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppManifest]:
    monkeypatch.syspath_prepend(package)
    found: AppManifest = import_module("choir.manifest").APP
    monkeypatch.setattr(manifests, "APPLICATIONS", (*manifests.APPLICATIONS, found))
    yield found
    for name in [name for name in sys.modules if name.partition(".")[0] == "choir"]:
        del sys.modules[name]


@pytest.fixture
async def browser(resources: Resources, choir: AppManifest, browse: Browse) -> AsyncIterator[httpx.AsyncClient]:
    settings = load_settings({"PRESSBOX_CHOIR_VOICES": "12"}, groups=manifests.settings_groups(), dotenv=None)
    own = settings.model_copy(update={"home": resources.settings.home, "secret_key": resources.settings.secret_key})

    @asynccontextmanager
    async def connect() -> AsyncIterator[Resources]:
        yield Resources(own, resources.database, resources.temporal, resources.objects, resources.http)

    app = create_app(own, manifests.manifests(own), connect)
    async with app.router.lifespan_context(app):
        yield browse(app)


async def test_its_page_has_its_setting_its_words_and_its_stylesheet(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/choir")
    assert page.status_code == 200
    assert "<h1>Choir: 12</h1>" in page.text
    assert "<h1>Chor: 12</h1>" in (await browser.get("/choir", headers={"Accept-Language": "de"})).text
    address = page.text.partition('href="/static/choir.css')[2].partition('"')[0]
    style = await browser.get(f"/static/choir.css{address}")
    assert (style.status_code, style.text) == (200, "h1{color:var(--accent)}")


async def test_its_schedule_is_applied(resources: Resources, choir: AppManifest, settings: Settings) -> None:
    declared = [
        item for item in declared_schedules(resources, manifests.manifests(settings)) if item.task_queue == "choir"
    ]
    try:
        assert await reconcile(resources, declared) == {"choir-rehearsal": ScheduleOutcome.CREATED}
    finally:
        await remove(resources, declared[0])


def test_its_command_is_a_word_of_the_program(package: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(package), *sys.path)),
            "PRESSBOX_HOME": str(tmp_path / "home"),
            "PRESSBOX_CHOIR_VOICES": "7",
        }
        command = [sys.executable, "-c", PROGRAM, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert re.search(r"^  choir +Songs\.$", run("--help"), re.MULTILINE)
    assert run("choir", "count") == "7 voices\n"
