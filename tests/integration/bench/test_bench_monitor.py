"""The benchmark of the monitor measures what it says. No test looks at a time."""

from datetime import UTC, datetime
from pathlib import Path

from pressbox.bench.instance import instance_settings
from pressbox.bench.monitor import AGO, measure_polls, use_fixtures_api
from pressbox.core.app import Resources
from pressbox.demo.match_day.days import build_day
from pressbox.demo.simulators.fixtures_api import FASTEST, FixturesApi
from pressbox.embedded.home import Home


async def test_the_history_and_the_statements_of_a_poll_do_not_grow_with_the_fixtures(resources: Resources) -> None:
    day = build_day(datetime.now(UTC).replace(microsecond=0) - AGO, matches=60, postponed=0)
    async with FixturesApi(day=day, minute_limit=FASTEST) as service, use_fixtures_api(resources, service.url) as own:
        small, large = await measure_polls(own, service.url, day, (5, 60), lambda _: None, rounds=1)
    assert (small.steady.calls, large.steady.calls) == (1, 3)
    assert large.goals > small.goals > 0
    assert large.steady.history_events <= 60
    assert abs(large.steady.history_events - small.steady.history_events) <= 10
    # For each of the two further calls: some around the budget of requests, and one that stores the answers.
    assert large.steady.statements - small.steady.statements <= 20


def test_a_benchmark_reads_what_its_instance_sealed(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    assert instance_settings(home).secret_keys == (home.secret_key(),)
