"""A schedule that rests while there is nothing to do: it runs seldom, and often again when something is due.

The times alone change. A pause stays, and so do times that a person chose and a schedule that a person deleted.
"""

from temporalio.client import Client, ScheduleIntervalSpec, ScheduleSpec, ScheduleUpdate, ScheduleUpdateInput
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.app import ScheduleDeclaration
from pressbox.core.db.database import Database
from pressbox.core.logs import get_logger
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.core.temporal.schedules import changed_by_user, is_resting, load_rows

log = get_logger(__name__)


class SchedulePace:
    """Does nothing for a schedule without `rest_every`. Any number of processes may ask at the same time."""

    def __init__(self, client: Client, database: Database, declaration: ScheduleDeclaration) -> None:
        self._client = client
        self._database = database
        self._declaration = declaration

    async def rest(self) -> None:
        await self._run(rest=True)

    async def hasten(self) -> None:
        await self._run(rest=False)

    async def _run(self, *, rest: bool) -> None:
        declaration = self._declaration
        every = declaration.rest_every if rest else declaration.every
        if every is None or declaration.rest_every is None:
            return
        row = (await load_rows(self._database)).get(declaration.id)
        if row is None:
            # It was never applied, or is being removed.
            return

        def updated(current: ScheduleUpdateInput) -> ScheduleUpdate | None:
            schedule = current.description.schedule
            if changed_by_user(schedule.spec, declaration, row) or is_resting(schedule.spec, declaration) is rest:
                return None
            schedule.spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)])
            # What runs seldom is made up for when the machine was off at its time.
            schedule.policy.catchup_window = every if rest else declaration.catchup_window
            log.info("schedule_paced", msg=f"Schedule {declaration.id} runs every {every}", schedule_id=declaration.id)
            return ScheduleUpdate(schedule)

        with translate_rpc_errors():
            try:
                await self._client.get_schedule_handle(declaration.id).update(updated)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
