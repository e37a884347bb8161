"""The pages of research: all runs and a new one; one run with its steps as they come, its report, and its export."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.evaluate.service import EvaluationService
from pressbox.curator.evaluate.wiring import evaluation_service
from pressbox.curator.library.domain import RESEARCH_CHANGED
from pressbox.curator.reading.access import LARGEST_ID, PATH, Reader, cursor, read_number
from pressbox.curator.reading.extensions import ID
from pressbox.curator.research.domain import (
    LONGEST_QUESTION,
    Limits,
    Quote,
    Run,
    Source,
    Step,
    StepKind,
    write_position,
)
from pressbox.curator.research.report import as_html, as_markdown, attachment, entry_address, render_report
from pressbox.curator.research.service import ResearchService
from pressbox.curator.research.wiring import research_service

router = APIRouter(include_in_schema=False)

Service = Annotated[ResearchService, Depends(provide(research_service))]
Evaluations = Annotated[EvaluationService, Depends(provide(evaluation_service))]

RESEARCH_PATH = f"{PATH}/research"
RunId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Text = Annotated[str, Form(max_length=2000)]


@dataclass(frozen=True)
class Round:
    """Steps that belong together; those before and after the rounds have the number 0."""

    number: int
    steps: Sequence[Step]


@dataclass(frozen=True)
class RunView:
    round: int
    minutes: float
    sources: int
    ended_by: str
    report: Markup
    before: Sequence[Step]
    rounds: Sequence[Round]
    after: Sequence[Step]

    @classmethod
    def of(cls, run: Run) -> "RunView":
        numbers = sorted({step.round for step in run.steps if step.round and step.kind is not StepKind.WRITE})
        written = run.step(write_position())
        return cls(
            round=numbers[-1] if numbers else 0,
            minutes=run.seconds / 60,
            sources=sum(1 for step in run.of(StepKind.READ) if step.outcome.notes),
            ended_by=(written.outcome.ended_by or "") if written else "",
            report=render_report(run.report, {source.number: address(source) for source in run.sources}),
            before=run.of(StepKind.PLAN),
            rounds=tuple(Round(number, _of_round(run, number)) for number in numbers),
            after=(written,) if written else (),
        )


def address(source: Source) -> str:
    """Where a citation leads: to the source in the list below the report."""
    return f"#source-{source.number}"


def quote_address(source: Source, quote: Quote) -> str:
    """The article, opened where the quote stands."""
    return f"{entry_address(source.material.entry_id)}?passage={quote.start}-{quote.end}#{ID}"


def _of_round(run: Run, number: int) -> tuple[Step, ...]:
    return tuple(step for step in run.steps if step.round == number and step.kind is not StepKind.WRITE)


@router.get(RESEARCH_PATH)
async def research_page(
    request: Request,
    service: Service,
    identity: Reader,
    question: Annotated[str, Query(max_length=LONGEST_QUESTION)] = "",
) -> HTMLResponse:
    """With a question that an answer led to."""
    return await _list_page(request, service, identity, question)


@router.get(f"{RESEARCH_PATH}/runs")
async def runs_part(request: Request, service: Service, identity: Reader) -> HTMLResponse:
    """The list of runs alone."""
    return await _list_page(request, service, identity, template="curator/_research_runs.html")


@router.post(RESEARCH_PATH)
async def start(
    request: Request,
    service: Service,
    identity: Reader,
    question: Text = "",
    rounds: Text = "",
    tokens: Text = "",
    minutes: Text = "",
    links: Text = "",
) -> Response:
    usual = service.limits
    try:
        limits = Limits(
            rounds=read_number(rounds, "rounds") if rounds.strip() else usual.rounds,
            tokens=read_number(tokens, "tokens") if tokens.strip() else usual.tokens,
            minutes=minutes_of(minutes) if minutes.strip() else usual.minutes,
            links=links == "yes",
        )
        run_id = await service.start(identity.user_id, question, limits)
    except (InvalidInputError, TransientError) as error:
        return await _list_page(request, service, identity, question, error.message, error.status)
    return _to(run_id)


@router.get(f"{RESEARCH_PATH}/{{run_id}}")
async def run_page(
    request: Request, service: Service, evaluations: Evaluations, identity: Reader, run_id: RunId
) -> HTMLResponse:
    return await _run_page(request, service, evaluations, identity, run_id, "curator/research_run.html")


@router.get(f"{RESEARCH_PATH}/{{run_id}}/part")
async def run_part(
    request: Request, service: Service, evaluations: Evaluations, identity: Reader, run_id: RunId
) -> HTMLResponse:
    """What changes while it goes on, alone."""
    return await _run_page(request, service, evaluations, identity, run_id, "curator/_research_run.html")


@router.post(f"{RESEARCH_PATH}/{{run_id}}/act")
async def act(service: Service, identity: Reader, run_id: RunId, what: Text) -> Response:
    """Stop, resume or delete."""
    if what == "stop":
        await service.stop(identity.user_id, run_id)
    elif what == "resume":
        await service.resume(identity.user_id, run_id)
    elif what == "delete":
        await service.delete(identity.user_id, run_id)
        return RedirectResponse(RESEARCH_PATH, status_code=303)
    else:
        raise InvalidInputError("Research can be stopped, resumed or deleted.", field="what")
    return _to(run_id)


@router.get(f"{RESEARCH_PATH}/{{run_id}}/report.md")
async def markdown(request: Request, service: Service, identity: Reader, run_id: RunId) -> Response:
    run = await service.run(identity.user_id, run_id)
    return attachment(as_markdown(run, _base(request)), "text/markdown; charset=utf-8", f"research-{run_id}.md")


@router.get(f"{RESEARCH_PATH}/{{run_id}}/report.html")
async def html(request: Request, service: Service, identity: Reader, run_id: RunId) -> Response:
    run = await service.run(identity.user_id, run_id)
    return attachment(as_html(run, _base(request)), "text/html; charset=utf-8", f"research-{run_id}.html")


async def _list_page(
    request: Request,
    service: ResearchService,
    identity: Reader,
    question: str = "",
    error: str = "",
    status: int = 200,
    template: str = "curator/research.html",
) -> HTMLResponse:
    at = await cursor(request)
    runs = await service.runs(identity.user_id)
    return render(
        request,
        template,
        status,
        identity=identity,
        runs=runs,
        cursor=at,
        follow=",".join(f"{RESEARCH_CHANGED}:{run.id}" for run in runs if run.state.unfinished),
        limits=service.limits,
        has_model=service.has_model,
        question=question,
        error=error,
    )


async def _run_page(
    request: Request,
    service: ResearchService,
    evaluations: EvaluationService,
    identity: Reader,
    run_id: int,
    template: str,
) -> HTMLResponse:
    at = await cursor(request)
    run = await service.run(identity.user_id, run_id)
    return render(
        request,
        template,
        identity=identity,
        run=run,
        view=RunView.of(run),
        quote_address=quote_address,
        scores=(await evaluations.of_research([run_id] if run.report else [])).get(run_id, ()),
        cursor=at,
        follow=f"{RESEARCH_CHANGED}:{run_id}",
    )


def minutes_of(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        raise InvalidInputError("Write a number of minutes.", field="minutes") from None


def _base(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _to(run_id: int) -> Response:
    return RedirectResponse(f"{RESEARCH_PATH}/{run_id}", status_code=303)
