"""`pressbox trigger translate`: translate entries now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.curator.library.command_line import Wait, run_workflow

if TYPE_CHECKING:
    from pressbox.core.app import Resources

trigger = typer.Typer()


@trigger.command()
def translate(
    context: typer.Context,
    entry_ids: Annotated[
        list[int] | None,
        typer.Argument(metavar="[ENTRY_ID]...", help="Otherwise the newest without a translation.", min=1),
    ] = None,
    provider: Annotated[
        str, typer.Option(help="deepl, microsoft or llm; otherwise that of the settings.", metavar="NAME")
    ] = "",
    language: Annotated[str, typer.Option(help="Such as de; otherwise that of the settings, or en.")] = "",
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Translate entries that have no translation yet."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.translate.wiring import translation_service

        service = translation_service(resources)
        return await service.translate_some(entry_ids or (), provider=provider, language=language)

    run_workflow(context, start, wait, as_json)
