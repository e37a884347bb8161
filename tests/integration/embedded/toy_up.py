"""`pressbox up` with toy programs: the real supervisor on real servers, without the applications."""

import os
import sys
from pathlib import Path

from pressbox.core.environment import load_settings
from pressbox.core.errors import PressboxError
from pressbox.core.logs import configure_logs
from pressbox.embedded.announcement import announcement
from pressbox.embedded.home import Endpoints
from pressbox.embedded.supervisor import ProgramCommands, Running, Steps, Supervisor

TOY = str(Path(__file__).with_name("toy_program.py"))


def ready(running: Running) -> None:
    sys.stdout.write(announcement(running, product="Pressbox", setup_link=None) + "READY\n")
    sys.stdout.flush()


def nothing(_: Endpoints) -> None:
    """No schema and no schedules here."""


def main() -> int:
    settings = load_settings(os.environ, dotenv=None)
    configure_logs(settings)
    commands = ProgramCommands(worker=(sys.executable, TOY, "worker"), web=(sys.executable, TOY, "web"))
    try:
        Supervisor(settings, Steps(migrate=nothing, prepare=nothing, ready=ready), commands).run()
    except PressboxError as error:
        sys.stderr.write(error.message + "\n")
        return 1
    return 0


sys.exit(main())
