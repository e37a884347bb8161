"""Checks every part and says how to fix what is wrong."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

import typer

from pressbox.core.accounts.proxies import check_proxies
from pressbox.core.commands import print_json
from pressbox.core.config import Settings
from pressbox.core.environment import load_settings, unknown_variables
from pressbox.core.errors import ConfigurationError
from pressbox.core.health import PATIENT_LIMIT, HealthState, PartHealth, check_parts, worst
from pressbox.core.logs import configure_logs, redact
from pressbox.embedded.diagnosis import diagnose
from pressbox.entry.manifests import manifests, settings_groups
from pressbox.entry.wiring import open_resources

_WORDS = {HealthState.OK: "ok", HealthState.WARNING: "warning", HealthState.FAILED: "FAILED"}
_COLOURS = {HealthState.OK: "green", HealthState.WARNING: "yellow", HealthState.FAILED: "red"}


def run_doctor(*, as_json: bool) -> None:
    parts = _examine()
    if as_json:
        print_json([asdict(part) for part in parts])
    else:
        _print(parts)
    if worst(parts) is HealthState.FAILED:
        raise typer.Exit(1)


def _examine() -> tuple[PartHealth, ...]:
    try:
        settings = load_settings(groups=settings_groups())
    except ConfigurationError as error:
        return (
            PartHealth(
                "settings", HealthState.FAILED, error.message, "Correct the variables; docs/settings.md has all."
            ),
        )
    configure_logs(settings)
    machine = diagnose(settings, unknown_variables(groups=settings_groups()))
    known = {part.name for part in machine}
    return (*machine, *(part for part in asyncio.run(_ask_parts(settings)) if part.name not in known))


async def _ask_parts(settings: Settings) -> tuple[PartHealth, ...]:
    try:
        async with open_resources(settings) as resources:
            parts = await check_parts(resources, manifests(settings), limit=PATIENT_LIMIT)
            if any(part.name == "database" and part.state is not HealthState.FAILED for part in parts):
                parts = (*parts, await check_proxies(resources.database))
            return parts
    except ConfigurationError as error:
        fix = "Start it with `pressbox up`."
        return (PartHealth("parts", HealthState.FAILED, redact(error.message), fix),)


def _print(parts: Sequence[PartHealth]) -> None:
    width = max(len(part.name) for part in parts)
    for part in parts:
        word = typer.style(f"{_WORDS[part.state]:<8}", fg=_COLOURS[part.state])
        version = f" [{part.version}]" if part.version else ""
        typer.echo(f"{word} {part.name:<{width}}  {part.detail}{version}")
        if part.fix and part.state is not HealthState.OK:
            typer.echo(f"{'':8} {'':<{width}}  Fix: {part.fix}")
    failed = sum(part.state is HealthState.FAILED for part in parts)
    warnings = sum(part.state is HealthState.WARNING for part in parts)
    summary = "Everything is well." if not failed and not warnings else f"{failed} failed, {warnings} with a warning."
    typer.echo(f"\n{summary}")
