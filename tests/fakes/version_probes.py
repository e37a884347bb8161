"""Two workflows that end when they are told to: one stays with its version, one moves on."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.pinning import pinned, upgrading


@pinned
@workflow.defn(name="VersionProbePinned")
class Pinned:
    """Ends when told to, with the version that it ran on last."""

    def __init__(self) -> None:
        self.told = False

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: self.told)
        version = workflow.info().get_current_deployment_version()
        return version.build_id if version else ""

    @workflow.signal
    def end(self) -> None:
        self.told = True


@upgrading
@workflow.defn(name="VersionProbeMoving")
class Moving(Pinned):
    @workflow.run
    async def run(self) -> str:
        return await super().run()

    @workflow.signal
    def end(self) -> None:
        self.told = True
