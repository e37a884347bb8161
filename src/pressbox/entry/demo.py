"""The product with a simulated outside world, on a home of its own."""

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import typer

from pressbox.core.config import Settings
from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.core.temporal.faults import Fault, list_planted, plant
from pressbox.demo.instance import Instance, running_instance
from pressbox.demo.player import Summary, choose_scenarios, play_forever, play_once
from pressbox.demo.stage import Scenario, Stage
from pressbox.demo.world import WorldPorts, open_world
from pressbox.embedded.ports import free_port
from pressbox.entry.settings import prepare_settings
from pressbox.entry.wiring import open_resources

MAILBOX = "/-/received"


def run_demo(only: Sequence[str], faults: Sequence[str], *, headless: bool, as_json: bool, speed: float) -> None:
    scenarios = choose_scenarios(only)
    wanted = [Fault.parse(text) for text in faults]
    settings = prepare_settings()
    if settings.database.url or settings.temporal.address:
        raise InvalidInputError(
            "The demo runs on its own embedded parts only. Unset PRESSBOX_DATABASE_URL and PRESSBOX_TEMPORAL_ADDRESS."
        )
    # A round that is judged must not find what an earlier one left; one that is looked at may go on.
    home = Path(tempfile.mkdtemp(prefix="pressbox-demo-")) if headless else demo_home(settings)
    if headless:
        home.chmod(0o711)
    ports = WorldPorts.choose()
    planted_in = home.parent / f"{home.name}-faults"
    for item in wanted:
        plant(planted_in, item)
    try:
        with running_instance(
            home, log=None, **_environment(settings, planted_in), **ports.environment(speed)
        ) as instance:
            if headless:
                _finish(asyncio.run(_play_once(instance, settings, scenarios, speed, ports)), as_json, planted_in)
            else:
                _show(instance, settings, scenarios, speed, ports)
    finally:
        shutil.rmtree(planted_in, ignore_errors=True)
        if headless:
            shutil.rmtree(home, ignore_errors=True)


def demo_home(settings: Settings) -> Path:
    """Beside the real home, never inside: the demo must not touch anybody's data."""
    return settings.home.with_name(f"{settings.home.name}-demo")


def choose_web_port(settings: Settings) -> int:
    """The port that somebody asked for; otherwise the usual one, or a free one beside a Pressbox that has it."""
    return settings.web.port if "port" in settings.web.model_fields_set else free_port(settings.web.port)


def describe_demo(web_url: str, mailbox_port: int, home: Path) -> str:
    return (
        f"The demo runs. Look at {web_url}\n"
        f"Mail that it sends goes nowhere; read it at http://127.0.0.1:{mailbox_port}{MAILBOX}\n"
        f"Ctrl-C stops all of it. What it shows stays in {home} for the next time; delete the folder to begin anew."
    )


def _environment(settings: Settings, faults: Path) -> dict[str, str]:
    return {
        "PRESSBOX_DEMO": "1",
        "PRESSBOX_OPEN": "1",
        "PRESSBOX_WEB_PORT": str(choose_web_port(settings)),
        "PRESSBOX_TESTING_FAULTS_DIRECTORY": str(faults),
    }


async def _play_once(
    instance: Instance, settings: Settings, scenarios: Sequence[Scenario], speed: float, ports: WorldPorts
) -> Summary:
    at_home = settings.model_copy(update={"home": instance.home.path})
    async with open_resources(at_home, instance.endpoints) as resources, open_world(ports) as world:
        return await play_once(Stage(resources, speed, 1, world, instance.web_url), scenarios)


def _show(
    instance: Instance, settings: Settings, scenarios: Sequence[Scenario], speed: float, ports: WorldPorts
) -> None:
    typer.echo(describe_demo(instance.web_url, ports.mailbox, instance.home.path))
    at_home = settings.model_copy(update={"home": instance.home.path})

    async def play() -> None:
        async with open_resources(at_home, instance.endpoints) as resources, open_world(ports) as world:
            await play_forever(Stage(resources, speed, 1, world, instance.web_url), scenarios, say=typer.echo)

    try:
        asyncio.run(play())
    except KeyboardInterrupt:
        typer.echo("Stopping.")


def _finish(summary: Summary, as_json: bool, faults: Path) -> None:
    if as_json:
        typer.echo(summary.model_dump_json())
    else:
        for finding in summary.findings:
            mark = "ok" if finding.met else f"expected {finding.expected}"
            typer.echo(f"{finding.name:<32} {finding.found:>5}  {mark}")
    if left := list_planted(faults):
        names = ", ".join(fault.filename for fault in left)
        raise PermanentError(f"These planted faults never struck; is the activity's name right? {names}")
    if not summary.met:
        raise typer.Exit(1)
