"""When a part is started again, and how patient the supervisor is."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

import pytest

from pressbox.core.errors import PermanentError
from pressbox.embedded.processes import ManagedProcess
from pressbox.embedded.watch import (
    CHECK_EVERY,
    FIRST_GRACE,
    LONGEST_DELAY,
    LONGEST_GRACE,
    LONGEST_START,
    WORK_SECONDS,
    Watch,
    delay_before,
    may_be_starting,
    start_grace,
)

CHECK = CHECK_EVERY.total_seconds()


@dataclass
class FakeProcess:
    living: bool = True
    exit_code: int | None = None
    works: bool = False
    worked: float = 0.0

    def alive(self) -> bool:
        return self.living

    def processor_seconds(self) -> float:
        self.worked += 2 * WORK_SECONDS if self.works else 0.0
        return self.worked


@dataclass
class FakePart:
    name: str = "worker"
    well: bool = True
    startable: bool = True
    starts: int = 0
    fake: FakeProcess = field(default_factory=FakeProcess)

    @property
    def process(self) -> ManagedProcess | None:
        return cast(ManagedProcess, self.fake)

    @process.setter
    def process(self, process: ManagedProcess | None) -> None:
        raise AssertionError("The watch does not replace processes itself.")

    def start(self) -> None:
        self.starts += 1
        if not self.startable:
            raise PermanentError("It cannot start.")
        self.fake = FakeProcess()

    def stop(self) -> None:
        self.fake.living = False

    def answers(self) -> bool:
        return self.well


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def pass_time(clock: Clock, seconds: float, *watches: Watch) -> None:
    end = clock.now + seconds
    while clock.now < end:
        clock.now += 0.2
        for watch in watches:
            watch.tick()


def test_the_first_restart_is_immediate_and_later_ones_wait_longer_up_to_a_limit() -> None:
    delays = [delay_before(restart).total_seconds() for restart in range(1, 30)]
    assert delays[0] == 0
    assert delays == sorted(delays)
    assert delays[-1] == LONGEST_DELAY.total_seconds()


def test_a_dead_part_is_started_at_once() -> None:
    clock, part = Clock(), FakePart()
    watch = Watch(part, clock=clock)
    part.fake.living = False
    pass_time(clock, 0.4, watch)
    assert part.starts == 1
    assert watch.restarts == 1


def test_a_well_part_is_left_alone() -> None:
    clock, part = Clock(), FakePart()
    pass_time(clock, 300, Watch(part, clock=clock))
    assert part.starts == 0


def test_one_missed_answer_is_forgiven_and_three_are_not() -> None:
    clock, part = Clock(), FakePart()
    watch = Watch(part, clock=clock)
    part.well = False
    pass_time(clock, 1.5 * CHECK, watch)
    part.well = True
    pass_time(clock, 5 * CHECK, watch)
    assert part.starts == 0
    part.well = False
    pass_time(clock, 4 * CHECK, watch)
    assert part.starts == 1


def test_a_restarted_part_has_time_to_come_up() -> None:
    clock, part = Clock(), FakePart()
    watch = Watch(part, clock=clock)
    part.fake.living, part.well = False, False
    pass_time(clock, FIRST_GRACE.total_seconds() - 1, watch)
    assert part.starts == 1
    pass_time(clock, 4 * CHECK, watch)
    assert part.starts == 2


def test_each_start_that_never_answers_gives_the_next_one_twice_the_time() -> None:
    graces = [start_grace(failed).total_seconds() for failed in range(20)]
    assert graces[:3] == [FIRST_GRACE.total_seconds() * factor for factor in (1, 2, 4)]
    assert graces[-1] == LONGEST_GRACE.total_seconds()

    clock, part = Clock(), FakePart()
    watch = Watch(part, clock=clock)
    part.fake.living, part.well = False, False
    pass_time(clock, FIRST_GRACE.total_seconds() + 4 * CHECK, watch)
    assert part.starts == 2
    pass_time(clock, 2 * FIRST_GRACE.total_seconds() - 2 * CHECK, watch)
    assert part.starts == 2
    part.well = True
    pass_time(clock, 2 * CHECK, watch)
    # It answered, so that its next start has the usual time again.
    part.fake.living, part.well = False, False
    pass_time(clock, FIRST_GRACE.total_seconds() + 8 * CHECK, watch)
    assert part.starts == 4


def test_a_start_is_judged_by_what_it_works_and_not_for_ever() -> None:
    late = FIRST_GRACE + timedelta(seconds=1)
    assert may_be_starting(FIRST_GRACE - timedelta(seconds=1), failed_starts=0, worked_seconds=0.0)
    assert may_be_starting(late, failed_starts=0, worked_seconds=WORK_SECONDS)
    assert not may_be_starting(late, failed_starts=0, worked_seconds=WORK_SECONDS / 2)
    assert may_be_starting(late, failed_starts=1, worked_seconds=0.0)
    assert not may_be_starting(LONGEST_START, failed_starts=9, worked_seconds=5.0)


def test_a_slow_start_that_works_is_left_alone_until_it_freezes() -> None:
    clock, part = Clock(), FakePart()
    watch = Watch(part, clock=clock)
    part.fake.living, part.well = False, False
    pass_time(clock, 1, watch)
    part.fake.works = True
    pass_time(clock, 4 * FIRST_GRACE.total_seconds(), watch)
    assert part.starts == 1
    part.fake.works = False
    pass_time(clock, 4 * CHECK, watch)
    assert part.starts == 2


def test_one_that_answered_is_judged_by_its_answers_alone() -> None:
    clock, part = Clock(), FakePart()
    part.fake.works, part.well = True, False
    pass_time(clock, 4 * CHECK, Watch(part, clock=clock))
    assert part.starts == 1


def test_a_worker_is_not_blamed_while_a_server_it_needs_is_away() -> None:
    clock, server, worker = Clock(), FakePart(name="temporal"), FakePart()
    server_watch = Watch(server, clock=clock)
    worker_watch = Watch(worker, needs=[server_watch], clock=clock)
    server.fake.living, server.startable, worker.well = False, False, False
    pass_time(clock, 120, server_watch, worker_watch)
    assert worker.starts == 0
    server.startable = True
    pass_time(clock, 90, server_watch, worker_watch)
    assert worker.starts > 0


def test_a_part_that_cannot_start_is_tried_again_ever_more_slowly() -> None:
    clock, part = Clock(), FakePart(startable=False)
    watch = Watch(part, clock=clock)
    part.fake.living = False
    pass_time(clock, 60, watch)
    tries = part.starts
    assert 5 <= tries <= 12
    part.startable = True
    pass_time(clock, LONGEST_DELAY.total_seconds() + 1, watch)
    assert watch.restarts == 1
    assert part.starts == tries + 1


@pytest.mark.parametrize("calm", [True, False])
def test_only_calm_time_makes_the_next_restart_immediate_again(calm: bool) -> None:
    clock, part = Clock(), FakePart()
    watch = Watch(part, clock=clock)
    for _ in range(6):
        part.fake.living = False
        pass_time(clock, delay_before(6).total_seconds() + 0.4, watch)
    starts = part.starts
    pass_time(clock, 2 * LONGEST_DELAY.total_seconds() if calm else 1, watch)
    part.fake.living = False
    pass_time(clock, 1, watch)
    assert (part.starts > starts) is calm
