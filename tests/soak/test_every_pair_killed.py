"""kill -9 of every part alone and of every pair, and once more in a random order, while workflows run."""

import random
import sys
from itertools import combinations
from pathlib import Path

import pytest

from pressbox.embedded.home import Home
from tests.e2e.test_kill import PARTS, all_finish


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_every_workflow_finishes_whichever_two_are_killed(reachable_folder: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"Order of the last kills: seed {seed}\n")
    last = random.Random(seed).sample(list(combinations(PARTS, 1)), len(PARTS))
    home = Home(reachable_folder / "pairs")
    await all_finish(home, [*combinations(PARTS, 1), *combinations(PARTS, 2), *last])
