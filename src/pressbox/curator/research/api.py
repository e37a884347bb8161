"""JSON: research to start, watch, stop, resume and delete, and its report."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import Field

from pressbox.core.web.api_models import RequestBody, ResponseModel, StartedWorkflow
from pressbox.core.web.pages.access import provide
from pressbox.curator.reading.access import LARGEST_ID, Reader
from pressbox.curator.research.bounds import LEAST_TOKENS, LONGEST_MINUTES, MOST_ROUNDS, MOST_TOKENS
from pressbox.curator.research.domain import (
    LONGEST_QUESTION,
    EndedBy,
    Limits,
    ResearchState,
    Run,
    Step,
    StepKind,
    StepState,
    write_position,
)
from pressbox.curator.research.service import ResearchService
from pressbox.curator.research.wiring import research_service

router = APIRouter(prefix="/api/curator/research", tags=["research"])

Service = Annotated[ResearchService, Depends(provide(research_service))]
RunId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class ResearchBody(RequestBody):
    question: str = Field(min_length=3, max_length=LONGEST_QUESTION)
    rounds: int | None = Field(None, ge=1, le=MOST_ROUNDS, description="Otherwise that of the settings, as all bounds.")
    tokens: int | None = Field(None, ge=LEAST_TOKENS, le=MOST_TOKENS)
    minutes: float | None = Field(None, gt=0, le=LONGEST_MINUTES)
    links: bool = Field(False, description="Also read pages that the articles link to.")

    def limits(self, usual: Limits) -> Limits:
        return Limits(
            self.rounds or usual.rounds, self.tokens or usual.tokens, self.minutes or usual.minutes, self.links
        )


class LimitsResponse(ResponseModel):
    rounds: int
    tokens: int
    minutes: float
    links: bool


class StepResponse(ResponseModel):
    round: int
    kind: StepKind
    title: str
    state: StepState
    questions: list[str] = Field(description="What a plan or a check asks for.")
    passages: int = Field(description="How many a search found.")
    notes: list[str] = Field(description="The quotes that were noted.")
    left_out: list[str]
    entry_id: int | None = Field(description="What was read.")
    url: str
    reason: str
    tokens: int

    @classmethod
    def of(cls, step: Step) -> "StepResponse":
        found = step.outcome
        return cls(
            round=step.round,
            kind=step.kind,
            title=step.title,
            state=step.state,
            questions=list(found.questions),
            passages=len(found.passages),
            notes=[note.quote for note in found.notes],
            left_out=[f"{one.title}: {one.reason}" for one in found.left_out],
            entry_id=found.material.entry_id if found.material else None,
            url=found.material.url if found.material else "",
            reason=found.reason,
            tokens=step.tokens,
        )


class SourceResponse(ResponseModel):
    number: int
    title: str
    url: str
    entry_id: int
    feed_title: str
    published_at: datetime | None
    link: bool = Field(description="A page that the entry links to.")
    quotes: list[str]


class RunResponse(ResponseModel):
    id: int
    question: str
    state: ResearchState
    reason: str
    limits: LimitsResponse
    method: str = Field(description="llm, or extracts: word for word from the sources.")
    model: str
    tokens: int
    seconds: float = Field(description="How long it worked, without waiting and standing still.")
    created_at: datetime
    finished_at: datetime | None


class RunDetailResponse(RunResponse):
    ended_by: EndedBy | None
    report: str = Field(description="Markdown; [n] cites the source of that number.")
    sources: list[SourceResponse]
    steps: list[StepResponse]

    @classmethod
    def of(cls, run: Run) -> "RunDetailResponse":
        written = run.step(write_position())
        sources = [
            SourceResponse(
                number=source.number,
                title=source.material.title,
                url=source.material.url,
                entry_id=source.material.entry_id,
                feed_title=source.material.feed_title,
                published_at=source.material.published_at,
                link=source.material.link,
                quotes=[quote.text for quote in source.quotes],
            )
            for source in run.sources
        ]
        return cls(
            **RunResponse.model_validate(run).model_dump(),
            ended_by=written.outcome.ended_by if written else None,
            report=run.report,
            sources=sources,
            steps=[StepResponse.of(step) for step in run.steps],
        )


@router.get("", summary="Your research, the newest first")
async def runs(service: Service, identity: Reader) -> list[RunResponse]:
    return [RunResponse.model_validate(run) for run in await service.runs(identity.user_id)]


@router.post("", status_code=201, summary="Start research on a question")
async def start(service: Service, identity: Reader, body: ResearchBody) -> RunDetailResponse:
    limits = body.limits(service.limits)
    run_id = await service.start(identity.user_id, body.question, limits)
    return RunDetailResponse.of(await service.run(identity.user_id, run_id))


@router.get("/{run_id}", summary="One run with its steps, its report and its sources")
async def run(service: Service, identity: Reader, run_id: RunId) -> RunDetailResponse:
    return RunDetailResponse.of(await service.run(identity.user_id, run_id))


@router.post("/{run_id}/stop", status_code=204, summary="Stop after the step that is being done")
async def stop(service: Service, identity: Reader, run_id: RunId) -> None:
    await service.stop(identity.user_id, run_id)


@router.post("/{run_id}/resume", status_code=202, summary="Go on where it stopped")
async def resume(service: Service, identity: Reader, run_id: RunId) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.resume(identity.user_id, run_id))


@router.delete("/{run_id}", status_code=204, summary="Delete a run with all that it found")
async def delete(service: Service, identity: Reader, run_id: RunId) -> None:
    await service.delete(identity.user_id, run_id)
