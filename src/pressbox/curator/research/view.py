"""A run of research as its page shows it: how far it is, what it may still use, and its report as safe HTML."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pressbox.curator.reading.access import PATH
from pressbox.curator.reading.marks import ID
from pressbox.curator.research.domain.research import Quote, Run, Source, Step, StepKind, write_position
from pressbox.curator.research.report_text import render_report


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


def entry_address(entry_id: int) -> str:
    return f"{PATH}/entries/{entry_id}"


def quote_address(source: Source, quote: Quote) -> str:
    """The article, opened where the quote stands."""
    return f"{entry_address(source.material.entry_id)}?passage={quote.start}-{quote.end}#{ID}"


def _of_round(run: Run, number: int) -> tuple[Step, ...]:
    return tuple(step for step in run.steps if step.round == number and step.kind is not StepKind.WRITE)
