"""What the supervisor watches: a server or a program of ours, each behind the same few verbs."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pressbox.embedded.home import Home, unusable_home
from pressbox.embedded.http_probe import answers_well
from pressbox.embedded.processes import ManagedProcess, start_process


class Part(Protocol):
    """`start` returns when the part was started (a server: when it answers); `answers` asks it now and never raises."""

    name: str
    process: ManagedProcess | None

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def answers(self) -> bool: ...


@dataclass(frozen=True)
class ProgramSettings:
    """A process of ours: how to start it, where it says that it is well, how long it may take to stop."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    health_urls: tuple[str, ...]
    stop_seconds: float


class Program:
    """Worker or web as a child process, with its log in the home."""

    def __init__(self, home: Home, settings: ProgramSettings) -> None:
        self.name = settings.name
        self.process: ManagedProcess | None = None
        self.log = home.logs / f"{settings.name}.log"
        self._home = home
        self._settings = settings

    def start(self) -> None:
        try:
            self.process = start_process(self._settings.command, log=self.log, environment=self._settings.environment)
        except OSError as error:
            raise unusable_home(self._home.path, error) from error

    def stop(self) -> None:
        if self.process:
            self.process.stop(((signal.SIGTERM, self._settings.stop_seconds),))
            self.process = None

    def answers(self) -> bool:
        return all(answers_well(url) for url in self._settings.health_urls)
