"""What an application is: a manifest. Worker, web, command line and schedules are loops over manifests.

`Resources` is what a process has once it is connected; `entry/wiring.py` makes it. An application's own `wiring.py`
turns it into activity objects and services.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import typer
from fastapi import APIRouter
from temporalio.client import Client
from temporalio.common import SearchAttributeKey

from pressbox.core.config import Group, Settings
from pressbox.core.contracts import Contract
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.objects.store import ObjectStore

if TYPE_CHECKING:
    from pressbox.core.health import PartHealth


@dataclass(frozen=True)
class Resources:
    """Everything from outside that an application may use, connected and ready."""

    settings: Settings
    database: Database
    temporal: Client
    objects: ObjectStore
    http: GuardedClient


# How a command gets the resources: `context.obj` of every command is one of these.
OpenResources = Callable[[], AbstractAsyncContextManager[Resources]]


@dataclass(frozen=True)
class TaskQueue:
    """A queue and how much of it one worker takes at a time. None means the worker's own setting."""

    name: str
    max_concurrent_activities: int | None = None


@dataclass(frozen=True)
class ScheduleDeclaration:
    """A schedule as the application wants it. Exactly one of `every` and `cron` is set; times are UTC."""

    id: str
    workflow: str
    workflow_id: str
    task_queue: str
    input: Contract
    summary: str
    every: timedelta | None = None
    cron: str | None = None
    catchup_window: timedelta = timedelta(minutes=10)
    run_timeout: timedelta | None = None

    def __post_init__(self) -> None:
        if (self.every is None) == (self.cron is None):
            raise ValueError(f"Schedule {self.id} needs exactly one of every and cron.")


@dataclass(frozen=True)
class LiveTopic:
    """A kind of thing that browsers can follow. `load` gives what they see of one, or None when it is gone.

    Whoever is signed in may follow every topic. Where not everybody may know which things there are, `by_name` demands
    that one is named.
    """

    kind: str
    load: Callable[[Resources, str], Awaitable[Mapping[str, Any] | None]]
    by_name: bool = False


@dataclass(frozen=True)
class NavigationEntry:
    """A place in the top line: `key` is the letter that follows `g`, `search` a page that takes words as `q`."""

    title: str
    path: str
    key: str
    icon: str
    search: str = ""


# The bound activity methods of each task queue.
ActivitiesByQueue = Mapping[str, Sequence[Callable[..., Any]]]


@dataclass(frozen=True)
class AppManifest:
    """One application.

    `router` and `commands` are made when somebody asks: a worker carries no pages.
    `health` gives parts of its own for the status page, such as outside services that it asks.
    """

    name: str
    title: str
    summary: str
    # Where its `templates`, `static` and `translations` folders are found.
    package: str | None = None
    settings: type[Group] | None = None
    queues: tuple[TaskQueue, ...] = ()
    workflows: Mapping[str, Sequence[type]] = field(default_factory=dict)
    activities: Callable[[Resources], ActivitiesByQueue] = lambda _: {}
    schedules: Callable[[Settings], Sequence[ScheduleDeclaration]] = lambda _: ()
    search_attributes: tuple[SearchAttributeKey[Any], ...] = ()
    topics: tuple[LiveTopic, ...] = ()
    router: Callable[[], APIRouter] | None = None
    navigation: NavigationEntry | None = None
    commands: Callable[[], typer.Typer] | None = None
    health: Callable[[Resources], Awaitable[Sequence["PartHealth"]]] | None = None
    # Beginnings of paths where only what a program sends by itself counts, and no cookie: whoever asks there need not
    # be a page of ours.
    cookieless: tuple[str, ...] = ()
    # Patterns of paths that a browser must not load before somebody opens them.
    never_prefetched: tuple[str, ...] = ()
