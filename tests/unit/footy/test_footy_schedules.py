"""The schedules of footy: what a machine that was off makes up for."""

from datetime import timedelta

from pressbox.core.config import Settings
from pressbox.footy.ids import INGEST_SCHEDULE
from pressbox.footy.manifest import APP


def test_the_fixtures_of_today_are_fetched_however_late_the_machine_starts() -> None:
    [ingest] = [one for one in APP.schedules(Settings()) if one.id == INGEST_SCHEDULE]
    # It runs once a day.
    assert ingest.catchup_window >= timedelta(days=1)
