"""A whole day of the demo, while its worker, its database and its Temporal are killed, one after the other."""

import json
from pathlib import Path

import pytest

from tests.patience import patience
from tests.playing import LONGEST, find_home, kill_part, playing, wait_until_there_is

# Each is killed as soon as there is something of this kind.
KILLED = {
    "footy": {
        "worker": "SELECT count(*) FROM footy.goals",
        "postgres": "SELECT count(*) FROM footy.clip_candidates",
        "temporal": "SELECT count(*) FROM footy.clips",
    },
    "curator": {
        "worker": "SELECT count(*) FROM curator.entries WHERE fetch_state = 'fetched'",
        "postgres": "SELECT count(*) FROM curator.entries WHERE distil_state = 'distilled'",
        "temporal": "SELECT count(*) FROM curator.entries WHERE guid LIKE '%:night-ferry-timetable'",
    },
}


@pytest.mark.slow
@pytest.mark.limit(LONGEST + 120)
@pytest.mark.parametrize("day", KILLED)
def test_a_day_ends_as_its_script_says_although_its_parts_are_killed(reachable_folder: Path, day: str) -> None:
    folder = reachable_folder / f"day-{day}"
    folder.mkdir()
    folder.chmod(0o711)
    with playing(folder, "--only", day) as demo:
        home = find_home(folder)
        for name, question in KILLED[day].items():
            assert wait_until_there_is(home, question, demo)
            kill_part(home, name, demo)
        output, _ = demo.communicate(timeout=patience(LONGEST))
    findings = json.loads(output)["findings"]
    assert [finding for finding in findings if finding["expected"] != finding["found"]] == []
    assert demo.returncode == 0
