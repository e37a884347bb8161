"""A benchmark starts a whole instance, measures it, and leaves nothing behind."""

import psutil
import pytest

from pressbox.bench.fanout import measure_fan_out
from pressbox.bench.instance import measured_instance, temporary_home
from pressbox.bench.memory import measure_memory
from pressbox.core.db.database import Database


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_an_instance_is_measured_and_gone_afterwards() -> None:
    with temporary_home() as home:
        with measured_instance(home) as instance:
            memory = measure_memory(instance)
            family = [psutil.Process(instance.process.pid), *psutil.Process(instance.process.pid).children(True)]
            database = Database(instance.endpoints.database_url)
            try:
                fan_out = await measure_fan_out(instance.endpoints.web_url or "", database, clients=20)
            finally:
                await database.close()
        assert {part.name for part in memory} == {"postgres", "temporal", "worker", "web", "up"}
        assert all(0 < part.proportional <= part.resident for part in memory)
        assert 0 < fan_out.median <= fan_out.last
        assert fan_out.polled > 0
        assert [process for process in family if process.is_running()] == []
        folder = home.path.parent
    assert not folder.exists()
