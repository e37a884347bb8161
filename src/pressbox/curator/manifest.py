"""The reader as an application: what its slices add up to."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import typer
from fastapi import APIRouter

from pressbox.core.app import ActivitiesByQueue, AppManifest, NavigationEntry, Resources, ScheduleDeclaration, TaskQueue
from pressbox.core.config import Settings
from pressbox.curator.apps import wiring as apps
from pressbox.curator.apps.reader_api.bases import COOKIELESS
from pressbox.curator.ask import wiring as ask
from pressbox.curator.cards import wiring as cards
from pressbox.curator.cleanup import wiring as cleanup
from pressbox.curator.context import wiring as context
from pressbox.curator.distil import wiring as distil
from pressbox.curator.evaluate import wiring as evaluate
from pressbox.curator.graph import wiring as graph
from pressbox.curator.ingest import wiring as ingest
from pressbox.curator.library.contracts import HEAVY_QUEUE, INDEX_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.operations import wiring as operations
from pressbox.curator.reading import wiring as reading
from pressbox.curator.reading.access import PATH
from pressbox.curator.reading.health import build_health
from pressbox.curator.research import wiring as research
from pressbox.curator.search import wiring as search
from pressbox.curator.settings import CuratorSettings
from pressbox.curator.sources import wiring as sources
from pressbox.curator.translate import wiring as translate
from pressbox.curator.wiring import service

# Most of these wait for a page, a host's turn or a model; what computes is bounded by the adapters.
HEAVY_AT_ONCE = 32

SLICES: tuple[Slice, ...] = (
    ingest.SLICE,
    distil.SLICE,
    search.SLICE,
    cleanup.SLICE,
    operations.SLICE,
    reading.SLICE,
    sources.SLICE,
    translate.SLICE,
    context.SLICE,
    cards.SLICE,
    graph.SLICE,
    evaluate.SLICE,
    ask.SLICE,
    research.SLICE,
    apps.SLICE,
)


def activities(resources: Resources) -> ActivitiesByQueue:
    merged: dict[str, list[Callable[..., Any]]] = defaultdict(list)
    for part in SLICES:
        for queue, functions in part.activities(resources).items():
            merged[queue].extend(functions)
    return merged


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    return [declared for part in SLICES for declared in part.schedules(settings)]


def router() -> APIRouter:
    from pressbox.curator.routes import build_router

    return build_router(service)


def commands() -> typer.Typer:
    from pressbox.curator.commands import build_commands

    return build_commands(service, schedules)


APP = AppManifest(
    name="curator",
    package="pressbox.curator",
    settings=CuratorSettings,
    title="Reader",
    summary="Feeds, the articles behind them, their gist, and an answer to what you know about a subject.",
    queues=(TaskQueue(QUEUE), TaskQueue(HEAVY_QUEUE, HEAVY_AT_ONCE), TaskQueue(INDEX_QUEUE, 1)),
    workflows={QUEUE: tuple(workflow for part in SLICES for workflow in part.workflows)},
    activities=activities,
    schedules=schedules,
    topics=tuple(topic for part in SLICES for topic in part.topics),
    router=router,
    commands=commands,
    navigation=NavigationEntry(title="Reader", path=PATH, key="r", icon="page", search=PATH),
    health=build_health(service, search.search_reader),
    cookieless=COOKIELESS,
    # Whoever opens an entry has read it.
    never_prefetched=(f"{PATH}/entries/*",),
)
