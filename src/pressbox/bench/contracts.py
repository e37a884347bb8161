"""What crosses Temporal in benchmarks."""

from pressbox.core.contracts import Contract


class BenchStepInput(Contract):
    number: int


class BenchStepResult(Contract):
    number: int


class BenchStepsWorkflowInput(Contract):
    """`steps` activities, and after each of them `reports` reports of progress."""

    steps: int = 1
    reports: int = 0


class BenchStepsWorkflowResult(Contract):
    steps: int
    reports: int
