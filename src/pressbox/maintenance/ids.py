"""Every id that maintenance uses in Temporal."""

QUEUE = "core"
SCHEDULE_ID = "core-maintenance"
WORKFLOW_ID = "core-maintenance"
