"""The schedule of polls, which rests while no match is on."""

from datetime import timedelta

from pressbox.core.app import ScheduleDeclaration
from pressbox.footy.contracts.monitor import MonitorWorkflowInput
from pressbox.footy.ids import MONITOR, MONITOR_SCHEDULE, MONITOR_WORKFLOW, QUEUE
from pressbox.footy.settings import FootySettings

SHORTEST_POLL = timedelta(seconds=1)
# Resting is worth the change of times only if it saves most of the polls.
FEWEST_SAVED = 4


def monitor_schedule(settings: FootySettings) -> ScheduleDeclaration:
    every, rest = max(settings.poll_every, SHORTEST_POLL), settings.policy.staging_interval
    return ScheduleDeclaration(
        id=MONITOR_SCHEDULE,
        workflow=MONITOR,
        workflow_id=MONITOR_WORKFLOW,
        task_queue=QUEUE,
        input=MonitorWorkflowInput(policy=settings.policy),
        summary="Polls the matches of the day",
        every=every,
        catchup_window=timedelta(seconds=30),
        # Polls do not overlap: one that hangs must not block the others for ever.
        run_timeout=timedelta(minutes=10),
        # Waiting matches are polled in these very intervals, and activated then, so resting misses none of them.
        rest_every=rest if rest >= FEWEST_SAVED * every else None,
    )
