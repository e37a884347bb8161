"""The worker is killed before and after the effect of every activity of soonish, while a thousand people are told."""

from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.core.db.database import Database
from tests.architecture.test_registration import ACTIVITIES
from tests.conftest import Parts
from tests.e2e.soonish.test_broadcast_faults import broadcast, judged, plant_kills, scene, until_settled, worker

PEOPLE = 1_000


@pytest.mark.slow
@pytest.mark.limit(600)
async def test_killed_before_and_after_every_effect_nobody_is_missing_and_no_copy_is_denied(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    plant_kills(tmp_path / "faults", ACTIVITIES["soonish"])
    async with scene(database, temporal, tmp_path / "home") as stage:
        with worker(parts, database_url, stage.resources.settings, tmp_path / "faults"):
            await broadcast(stage, tmp_path / "faults", PEOPLE)
            await until_settled(database)
        await judged(stage, database, PEOPLE)
