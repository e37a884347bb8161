"""Inputs and results of the benchmark workflow."""

from pressbox.core.contracts import Contract


class BenchStepInput(Contract):
    number: int


class BenchStepResult(Contract):
    number: int


class BenchStepsWorkflowInput(Contract):
    """Run `steps` activities and report progress `reports` times after each."""

    steps: int = 1
    reports: int = 0


class BenchStepsWorkflowResult(Contract):
    steps: int
    reports: int
