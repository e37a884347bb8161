"""The process in which `up` prepares: it answers, it passes errors on, and it goes away whatever happens."""

import os
import signal
import subprocess
import sys
import textwrap

import psutil
import pytest

from pressbox.core.errors import ConfigurationError, PermanentError
from pressbox.embedded.processes import ProcessRecord, wait_until
from pressbox.entry.preparation import Preparation
from tests.patience import patience

# Newer Pythons warn of a fork beside threads; the run of the tests has some, `up` has none.
pytestmark = pytest.mark.filterwarnings("default:.*multi-threaded.*:DeprecationWarning")


def nothing() -> None:
    """Loads nothing."""


def its_pid() -> int:
    return os.getpid()


def refuse(setting: str) -> None:
    raise ConfigurationError(f"{setting} is wrong.", setting=setting)


def end_itself() -> None:
    os._exit(3)


def interrupt_itself() -> str:
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    return "still here"


def test_steps_run_in_one_process_that_is_not_ours_and_ends_with_the_block() -> None:
    with Preparation(nothing) as preparation:
        pid = preparation.run(its_pid)
        assert pid not in (os.getpid(), os.getppid())
        assert preparation.run(its_pid) == pid
        preparation.close()
    assert not psutil.pid_exists(pid)


def test_an_error_of_ours_arrives_as_it_was_raised_and_the_next_step_runs() -> None:
    with Preparation(nothing) as preparation:
        with pytest.raises(ConfigurationError, match=r"PRESSBOX_X is wrong\.") as raised:
            preparation.run(refuse, "PRESSBOX_X")
        assert raised.value.details == {"setting": "PRESSBOX_X"}
        assert preparation.run(its_pid)


def test_a_process_that_ends_by_itself_is_said() -> None:
    with Preparation(nothing) as preparation, pytest.raises(PermanentError, match="ended unexpectedly"):
        preparation.run(end_itself)


def test_a_signal_for_the_whole_group_is_left_to_up() -> None:
    with Preparation(nothing) as preparation:
        assert preparation.run(interrupt_itself) == "still here"


PARENT = textwrap.dedent("""
    import os, time
    from pressbox.entry.preparation import Preparation
    def nothing():
        pass
    print(Preparation(nothing).run(os.getpid), flush=True)
    time.sleep(60)
""")


def test_it_ends_with_a_parent_that_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = ProcessRecord.of(psutil.Process(int(parent.stdout.readline())))
        parent.kill()
        assert wait_until(lambda: child.find() is None, patience(15))
