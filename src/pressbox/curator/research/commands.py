"""`pressbox trigger deep-research`: research on a question, for one account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json, print_json
from pressbox.curator.library.command_line import User, run_for_user
from pressbox.curator.research.bounds import LEAST_TOKENS, LONGEST_MINUTES, MOST_ROUNDS, MOST_TOKENS

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.curator.research.domain import Run

trigger = typer.Typer()


@trigger.command("deep-research")
def deep_research(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What is researched in all that the account reads.")],
    rounds: Annotated[
        int | None, typer.Option(min=1, max=MOST_ROUNDS, help="Most rounds of searching and reading.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=LEAST_TOKENS, max=MOST_TOKENS, help="Most tokens of the model.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, max=LONGEST_MINUTES, help="Longest time that it may work.")
    ] = None,
    links: Annotated[bool, typer.Option("--links", help="Also read pages that the articles link to.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it has ended, and show the report.")] = False,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Research a question in rounds, and write a report with its sources."""

    async def run(resources: Resources, owner: int) -> Run:
        from pressbox.core.temporal import control
        from pressbox.curator.research.contracts import research_workflow_id
        from pressbox.curator.research.domain import Limits
        from pressbox.curator.research.wiring import research_service

        service = research_service(resources)
        usual = service.limits
        limits = Limits(rounds or usual.rounds, tokens or usual.tokens, minutes or usual.minutes, links)
        run_id = await service.start(owner, question, limits)
        if wait:
            await control.result(resources.temporal, research_workflow_id(run_id))
        return await service.run(owner, run_id)

    show(run_for_user(context, user, run), wait, as_json)


def show(run: Run, waited: bool, as_json: bool) -> None:
    from pressbox.curator.research.contracts import research_workflow_id

    if as_json:
        print_json(
            {
                "workflow_id": research_workflow_id(run.id),
                "run_id": run.id,
                "state": run.state,
                "report": run.report,
                "sources": [
                    {"number": source.number, "title": source.material.title, "url": source.material.url}
                    for source in run.sources
                ],
            }
        )
        return
    typer.echo(f"{'Done' if waited else 'Started'}: {research_workflow_id(run.id)}, /reader/research/{run.id}")
    if not waited:
        return
    typer.echo(f"\n{run.report or 'Nothing that this account reads answers the question.'}\n")
    for source in run.sources:
        typer.echo(f"[{source.number}] {source.material.title} {source.material.url}")
