"""`pressbox ask`: a question over everything that an account reads, answered in the terminal."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json, print_json
from pressbox.curator.library.command_line import User, run_for_user

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.curator.ask.domain import AnswerView

BETWEEN_LOOKS_SECONDS = 0.3


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    entry: Annotated[int | None, typer.Option(min=1, help="Ask about this entry only.")] = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Ask about what you read; prints the answer with its sources, or the passages that fit best."""
    from pressbox.curator.ask.domain import AnswerState

    async def run(resources: Resources, owner: int) -> AnswerView:
        from pressbox.curator.ask.wiring import ask_service

        questions = ask_service(resources)
        answer = await questions.ask(owner, question, entry_id=entry)
        # What waits for a model goes on by itself; nobody has to sit here for it.
        while answer.state in (AnswerState.SEARCHING, AnswerState.WRITING):
            await asyncio.sleep(BETWEEN_LOOKS_SECONDS)
            answer = await questions.answer(owner, answer.id)
        return answer

    answer = run_for_user(context, user, run)
    if as_json:
        print_json(asdict(answer))
    else:
        show(answer)
    if answer.state is AnswerState.FAILED:
        raise typer.Exit(1)


def show(answer: AnswerView) -> None:
    from pressbox.curator.ask.domain import cited

    if answer.text:
        typer.echo(f"{answer.text}\n")
    elif answer.reason:
        typer.echo(f"{answer.state.value}: {answer.reason}\n")
    elif not answer.passages:
        typer.echo("Nothing that you read speaks of this.")
    numbers = cited(answer.text) or range(1, len(answer.passages) + 1)
    for number in numbers:
        passage = answer.passages[number - 1]
        typer.echo(f"[{number}] {passage.title} ({passage.feed_title}, {passage.published_at:%Y-%m-%d}) {passage.url}")
        if not answer.text:
            typer.echo(f"    {' '.join(passage.text.split())}")
