"""The workers are killed before, in the middle of and after what tells a thousand people of goals.

Then a goal of the demo, told, shown and taken back, while every part is killed at each of these steps.
"""

import json
from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.core.db.database import Database
from tests.conftest import Parts
from tests.e2e.delivery.test_notice_faults import play_and_judge
from tests.e2e.test_demo import WHEN_CLIP, WHEN_TOLD
from tests.patience import patience
from tests.playing import LONGEST, PARTS, find_home, kill_part, playing, wait_until_there_is

PEOPLE = 1_000
WHEN_TAKEN_BACK = "SELECT count(*) FROM core.notices WHERE kind = 'goal' AND state = 'withdrawn'"


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_killed_around_every_effect_a_thousand_people_are_told_once(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    await play_and_judge(parts, database_url, database, temporal, tmp_path, PEOPLE)


@pytest.mark.slow
@pytest.mark.limit(LONGEST + 120)
@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_goal_reaches_everybody_although_a_part_is_killed_at_every_step(reachable_folder: Path, part: str) -> None:
    folder = reachable_folder / f"goal-{part}"
    folder.mkdir()
    folder.chmod(0o711)
    with playing(folder, "--only", "goal") as demo:
        home = find_home(folder)
        for question in (WHEN_TOLD, WHEN_CLIP):
            assert wait_until_there_is(home, question, demo)
            kill_part(home, part, demo)
        # On a fast machine the demo may be at its end before anything can be killed.
        if wait_until_there_is(home, WHEN_TAKEN_BACK, demo):
            kill_part(home, part, demo)
        output, _ = demo.communicate(timeout=patience(LONGEST))
    findings = json.loads(output)["findings"]
    assert [finding for finding in findings if finding["expected"] != finding["found"]] == []
    assert demo.returncode == 0
