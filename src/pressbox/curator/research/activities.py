"""The effects of research, step by step. A step that is done is not done again: its row says what came of it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import GoneError, PermanentError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import BOUNDED, QUICK
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.models.domain import trace_id
from pressbox.curator.models.waiting import UNAVAILABLE, retry_later
from pressbox.curator.research.contracts import (
    CloseResearchInput,
    ResearchBounds,
    ResearchStepDone,
    ResearchStepInput,
)
from pressbox.curator.research.domain import (
    EndedBy,
    Material,
    Note,
    Outcome,
    ResearchMethod,
    Run,
    Step,
    StepKind,
    StepState,
    check_position,
    choice_position,
    choose_articles,
    choose_links,
    collect_notes,
    collect_sources,
    plan_position,
    questions_asked,
    questions_of,
    read_position,
    search_position,
    usable_questions,
    write_position,
)
from pressbox.curator.research.extracts import check_citations, find_quote, write_from_notes
from pressbox.curator.research.ports import LinkedPages, Readings, Researcher, ResearcherReply, ResearchSteps
from pressbox.curator.search.ports import Retriever
from pressbox.curator.text.plain_text import shorten
from pressbox.curator.text.sentences import extract_terms

PASSAGES_PER_QUESTION = 8
LONGEST_PASSAGE = 1_500
MOST_NOTES = 6
LONGEST_CLAIM = 400
LONGEST_QUOTE = 600
REPORT_TOKENS = 2_500
LONGEST_REASON = 300
DELETED = "This research was deleted."
NOT_YOURS = "It is gone, or in none of your sources any more."
NOTHING_IN_IT = "Nothing in it answers the question."
QUESTION_ITSELF = "The plan could not be used; the question itself is searched for."
NOTES_INSTEAD = "The model wrote no report that cites its sources; these are the passages that it noted."

Work = Callable[[Run], Awaitable[tuple[Outcome, int]]]


class ResearchActivities:
    def __init__(
        self,
        steps: ResearchSteps,
        retriever: Retriever,
        readings: Readings,
        researcher: Researcher,
        pages: LinkedPages,
        now: Clock = utc_now,
    ) -> None:
        self._steps = steps
        self._retriever = retriever
        self._readings = readings
        self._researcher = researcher
        self._pages = pages
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def open_research(self, input: ResearchStepInput) -> ResearchBounds:
        """Where a run stands: nothing of what it did before is lost."""
        run = await self._steps.open(input.run_id, self._researcher.method, self._researcher.model)
        if run is None:
            return ResearchBounds(gone=True)
        return ResearchBounds(
            rounds=run.limits.rounds,
            tokens_limit=run.limits.tokens,
            minutes=run.limits.minutes,
            tokens=run.tokens,
            seconds=run.seconds,
        )

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def plan_research(self, input: ResearchStepInput) -> ResearchStepDone:
        async def plan(run: Run) -> tuple[Outcome, int]:
            told = await self._researcher.plan(run.user_id, run.question)
            further = usable_questions(told.questions, (run.question,))
            reason = "" if told.usable else QUESTION_ITSELF
            return Outcome(questions=(run.question, *further), reason=reason), told.tokens

        return await self._step(input, Step(plan_position(), 0, StepKind.PLAN, "", StepState.RUNNING), plan)

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def search_for_research(self, input: ResearchStepInput) -> ResearchStepDone:
        """Every question of the round, and then which articles are worth reading."""
        run = await self._run(input)
        async with Heartbeat():
            for number, question in enumerate(questions_of(run, input.round)):
                await self._search(run, input, search_position(input.round, number), question)
            await self._choose(input)
        run = await self._run(input)
        waiting = (step.position for step in run.of(StepKind.READ, input.round) if not step.state.over)
        return ResearchStepDone(tokens=run.tokens, to_read=tuple(waiting))

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def read_for_research(self, input: ResearchStepInput) -> ResearchStepDone:
        """One article or page, with what it says to the question, in its own words."""
        planned = (await self._run(input)).step(input.position)
        if planned is None or planned.outcome.material is None:
            raise GoneError(DELETED)
        material, spans = planned.outcome.material, planned.outcome.spans

        async def read(run: Run) -> tuple[Outcome, int]:
            kept = Outcome(material=material, spans=spans)
            text, reason = await self._text(run, material, input.policy)
            if not text:
                return replace(kept, reason=reason), 0
            told = await self._researcher.read(run.question, questions_asked(run), material, text, spans)
            notes = _keep_quoted(told.notes, text, linked=material.link)
            reason = told.reason if not told.usable else "" if notes else NOTHING_IN_IT
            return replace(kept, notes=notes, reason=reason), told.tokens

        return await self._step(input, planned, read)

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def check_research(self, input: ResearchStepInput) -> ResearchStepDone:
        """What the notes leave open. A round that found nothing new is the last one, whatever anybody says."""

        async def check(run: Run) -> tuple[Outcome, int]:
            if not any(step.outcome.notes for step in run.of(StepKind.READ, input.round)):
                return Outcome(ended_by=EndedBy.NOTHING_NEW), 0
            told = await self._researcher.check(run.question, questions_asked(run), collect_notes(run))
            questions = usable_questions(told.questions, questions_asked(run))
            ended = None if questions else EndedBy.ANSWERED
            return Outcome(questions=questions, ended_by=ended, reason=told.reason), told.tokens

        step = Step(check_position(input.round), input.round, StepKind.CHECK, "", StepState.RUNNING)
        return await self._step(input, step, check)

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def write_research(self, input: ResearchStepInput) -> ResearchStepDone:
        run = await self._run(input)
        known, noted = run.step(write_position()), collect_notes(run)
        if known is not None and known.state.over:
            return self._done(run, known)
        step = Step(write_position(), input.round, StepKind.WRITE, "", StepState.RUNNING)
        await self._steps.begin(run.id, step, self._now())
        try:
            async with Heartbeat():
                told = await self._write_report(run)
        except UNAVAILABLE as error:
            return await self._wait_for_model(run, error, input)
        outcome = Outcome(ended_by=input.ended_by, reason=told.reason)
        step = replace(step, state=StepState.DONE, outcome=outcome, tokens=told.tokens)
        sources = tuple(source for source, _ in noted)
        await self._steps.save_report(run.id, told.text, sources, step, input.seconds, self._now())
        return self._done(await self._run(input), step)

    @activity.defn
    @call_with(QUICK)
    async def close_research(self, input: CloseResearchInput) -> None:
        reason = shorten(input.reason, LONGEST_REASON)
        await self._steps.close(input.run_id, input.state, reason, input.seconds, self._now())

    async def _step(self, input: ResearchStepInput, step: Step, work: Work) -> ResearchStepDone:
        """One step to its end, unless it was done before. A model that is away leaves it as it was."""
        run = await self._run(input)
        known = run.step(step.position)
        if known is not None and known.state.over:
            return self._done(run, known)
        await self._steps.begin(run.id, step, self._now())
        try:
            async with Heartbeat():
                outcome, tokens = await work(run)
        except UNAVAILABLE as error:
            return await self._wait_for_model(run, error, input)
        empty = step.kind is StepKind.READ and not outcome.notes
        done = replace(step, state=StepState.SKIPPED if empty else StepState.DONE, outcome=outcome, tokens=tokens)
        await self._steps.finish(run.id, (done,), input.seconds, self._now())
        return self._done(await self._run(input), done)

    async def _search(self, run: Run, input: ResearchStepInput, position: int, question: str) -> None:
        known = run.step(position)
        if known is not None and known.state.over:
            return
        step = Step(position, input.round, StepKind.SEARCH, question, StepState.RUNNING)
        await self._steps.begin(run.id, step, self._now())
        found = await self._retriever.find(run.user_id, question, limit=PASSAGES_PER_QUESTION)
        passages = tuple(replace(passage, text=passage.text[:LONGEST_PASSAGE]) for passage in found)
        done = replace(step, state=StepState.DONE, outcome=Outcome(passages=passages))
        await self._steps.finish(run.id, (done,), input.seconds, self._now())

    async def _choose(self, input: ResearchStepInput) -> None:
        """With the steps that read what was chosen, in one transaction."""
        run = await self._run(input)
        position = choice_position(input.round)
        if run.step(position) is not None:
            return
        known = [step.outcome.material for step in run.of(StepKind.READ) if step.outcome.material]
        found = [step.outcome.passages for step in run.of(StepKind.SEARCH, input.round)]
        earlier = [step.outcome.passages for step in run.of(StepKind.SEARCH) if step.round < input.round]
        choice = choose_articles(found, known, earlier)
        links = await self._links(run, [*known, *(material for material, _ in choice.reads)])
        reads = [*choice.reads, *((material, ()) for material in links)]
        planned = [
            Step(
                read_position(input.round, number),
                input.round,
                StepKind.READ,
                material.title,
                StepState.PLANNED,
                Outcome(material=material, spans=spans),
            )
            for number, (material, spans) in enumerate(reads)
        ]
        made = Outcome(left_out=choice.left_out)
        step = Step(position, input.round, StepKind.CHOOSE, "", StepState.DONE, made)
        await self._steps.finish(run.id, (step, *planned), input.seconds, self._now())

    async def _links(self, run: Run, known: list[Material]) -> tuple[Material, ...]:
        if not run.limits.links:
            return ()
        entries = dict.fromkeys(material.entry_id for material in known if not material.link)
        links = await self._readings.links(run.user_id, tuple(entries))
        words = dict.fromkeys(extract_terms(" ".join((run.question, *questions_asked(run))), "en"), 1.0)
        return choose_links(links, known, words)

    async def _text(self, run: Run, material: Material, policy: CuratorPolicy) -> tuple[str, str]:
        """The text, or why there is none."""
        if not material.link:
            return await self._readings.text(run.user_id, material.entry_id), NOT_YOURS
        try:
            return await self._pages.text(material.url, policy), NOTHING_IN_IT
        except UNAVAILABLE as error:
            # A page is not worth waiting for: the others are read meanwhile.
            return "", shorten(error.message, LONGEST_REASON)
        except PermanentError as error:
            return "", shorten(error.message, LONGEST_REASON)

    async def _write_report(self, run: Run) -> ResearcherReply:
        """Of nothing nothing is written; a text that cites none of its sources is none."""
        noted = collect_notes(run)
        if not noted:
            return ResearcherReply()
        told = await self._researcher.write(run.question, noted, REPORT_TOKENS)
        report = check_citations(told.text, collect_sources(run))
        if report.cited:
            return replace(told, text=report.text)
        return replace(told, text=write_from_notes(noted), reason=told.reason or NOTES_INSTEAD)

    async def _wait_for_model(self, run: Run, error: Exception, input: ResearchStepInput) -> ResearchStepDone:
        assert isinstance(error, UNAVAILABLE)
        retry_at, reason = retry_later(error, input.policy, self._now())
        await self._steps.wait(run.id, reason, input.seconds)
        return ResearchStepDone(tokens=run.tokens, retry_at=retry_at, reason=reason)

    async def _run(self, input: ResearchStepInput) -> Run:
        run = await self._steps.run(input.run_id)
        if run is None:
            raise GoneError(DELETED)
        return run

    def _done(self, run: Run, step: Step) -> ResearchStepDone:
        sources = len(collect_sources(run))
        # Only what a model wrote is worth judging.
        judged = step.kind is StepKind.WRITE and sources and self._researcher.method is ResearchMethod.LLM
        trace = trace_id("research", run.id) if judged else ""
        return ResearchStepDone(tokens=run.tokens, ended_by=step.outcome.ended_by, sources=sources, trace_id=trace)


def _keep_quoted(notes: tuple[Note, ...], text: str, *, linked: bool) -> tuple[Note, ...]:
    """Only what can be found where it is said to stand; a page that is linked to is not kept, so it has no places."""
    found = []
    for note in notes[:MOST_NOTES]:
        span = find_quote(note.quote, text)
        if span is None or span.end - span.start > LONGEST_QUOTE:
            continue
        quote = text[span.start : span.end]
        start, end = (0, 0) if linked else (span.start, span.end)
        found.append(Note(note.claim[:LONGEST_CLAIM], quote, start, end))
    return tuple(dict.fromkeys(found))
