"""The reader as an application: what its slices add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    Command,
    CommandWord,
    CredentialKind,
    LiveTopic,
    NavigationEntry,
    OfflineThing,
    PersonalData,
    Resources,
    ScheduleDeclaration,
    ShareTarget,
    TaskQueue,
    WorkflowsByQueue,
    WrittenAbout,
)
from pressbox.core.spending.services import PaidService
from pressbox.core.today.contracts import Place
from pressbox.curator.names import BODY_LIMITS, COOKIELESS, HEAVY_QUEUE, INDEX_QUEUE, PATH, QUEUE

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.members import AudienceKind, Viewer
    from pressbox.core.config import Settings
    from pressbox.core.db.database import UnitOfWork
    from pressbox.core.digests import DigestSection, DigestSpan
    from pressbox.core.health import PartHealth
    from pressbox.core.measures import Measure
    from pressbox.core.quotas.quota import Quota
    from pressbox.core.stored_settings.sections import SettingsSection
    from pressbox.core.today.contracts import Attention, FoundThing, SearchGroup, TodaySection
    from pressbox.curator.settings import CuratorSettings

# Most of these wait for a page, a host's turn or a model; what computes is bounded by the adapters.
HEAVY_AT_ONCE = 32


def settings() -> type[CuratorSettings]:
    from pressbox.curator.settings import CuratorSettings

    return CuratorSettings


def search() -> Sequence[SearchGroup]:
    from pressbox.curator.reading.finding import GROUPS

    return GROUPS


def today() -> Sequence[TodaySection]:
    from pressbox.curator.reading.finding import SECTIONS

    return SECTIONS


async def attention(work: UnitOfWork, resources: Resources, viewer: Viewer) -> Sequence[Attention]:
    from pressbox.curator.reading.finding import look_for_trouble

    return await look_for_trouble(work, resources, viewer)


async def offline(resources: Resources, viewer: Viewer) -> Sequence[OfflineThing]:
    from pressbox.curator.reading.offline import list_offline

    return await list_offline(resources, viewer)


async def digest(resources: Resources, viewer: Viewer, span: DigestSpan) -> DigestSection | None:
    from pressbox.curator.reading.digest import write_section

    return await write_section(resources, viewer, span)


async def written(resources: Resources, viewer: Viewer, about: WrittenAbout) -> Sequence[FoundThing]:
    from pressbox.curator.reading.finding import find_written

    return await find_written(resources, viewer, about)


def sections() -> Sequence[SettingsSection]:
    from pressbox.curator.models.wiring import MODEL

    return (MODEL,)


def workflows() -> WorkflowsByQueue:
    from pressbox.curator.slices import SLICES

    return {QUEUE: tuple(workflow for part in SLICES for workflow in part.workflows)}


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.curator.slices import SLICES

    merged: dict[str, list[Callable[..., Any]]] = defaultdict(list)
    for part in SLICES:
        for queue, functions in part.activities(resources).items():
            merged[queue].extend(functions)
    return merged


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.curator.schedules import declare_schedules

    return declare_schedules(settings)


def audiences() -> Sequence[AudienceKind]:
    from pressbox.curator.slices import SLICES

    return [kind for part in SLICES for kind in part.audiences]


def quotas() -> Sequence[Quota]:
    from pressbox.curator.apps.store import APP_PASSWORDS, VIEW_FEEDS
    from pressbox.curator.library.quotas import QUOTAS

    return (*QUOTAS, APP_PASSWORDS, VIEW_FEEDS)


def topics() -> Sequence[LiveTopic]:
    from pressbox.curator.slices import SLICES

    return [topic for part in SLICES for topic in part.topics]


def command(name: str) -> Command:
    from pressbox.curator.commands import build_commands

    return build_commands(schedules)[name]


def router() -> APIRouter:
    from pressbox.core.web.joining import join_routers
    from pressbox.curator.ask.pages import find_passage
    from pressbox.curator.reading.extensions import set_passage_finder
    from pressbox.curator.slices import SLICES

    set_passage_finder(find_passage)
    return join_routers(*(router for part in SLICES for router in part.routers()))


def personal_data() -> PersonalData:
    from pressbox.curator.personal_data import PERSONAL_DATA

    return PERSONAL_DATA


def credentials() -> Sequence[CredentialKind]:
    from pressbox.curator.apps.store import CREDENTIALS

    return CREDENTIALS


def has_model(settings: Settings) -> bool:
    from pressbox.curator.settings import CuratorSettings

    return bool(settings.group(CuratorSettings).model_name)


def has_deepl(settings: Settings) -> bool:
    from pressbox.curator.settings import CuratorSettings

    return settings.group(CuratorSettings).deepl_key is not None


def has_microsoft(settings: Settings) -> bool:
    from pressbox.curator.settings import CuratorSettings

    return settings.group(CuratorSettings).microsoft_key is not None


async def worker_problem(resources: Resources, queues: Collection[str]) -> str | None:
    from pressbox.curator.search.wiring import index_problem

    return await index_problem(resources, queues)


async def health(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.curator.search.service import check_search
    from pressbox.curator.sources.health import check_feeds

    return (*await check_search(resources), *await check_feeds(resources))


def measures() -> Sequence[Measure]:
    from pressbox.curator.sources.health import MEASURES

    return MEASURES


APP = AppManifest(
    name="curator",
    package="pressbox.curator",
    settings=settings,
    sections=sections,
    written=written,
    search=search,
    today=today,
    attention=attention,
    help=(
        Place("Add a feed", f"{PATH}/add", "site subscribe rss atom newspaper blog source"),
        Place("Bring feeds from another reader", f"{PATH}/import", "opml import feedly miniflux freshrss"),
        Place("Read with an app", f"{PATH}/apps", "reader app password android iphone greader"),
    ),
    offline=offline,
    share=ShareTarget(address=f"{PATH}/add"),
    digest=digest,
    secret_paths=(rf"{PATH}/apps", r"/accounts/ClientLogin", r".*/token$"),
    title="Reader",
    summary="Feeds, the articles behind them, their gist, and an answer to what you know about a subject.",
    queues=(TaskQueue(QUEUE), TaskQueue(HEAVY_QUEUE, HEAVY_AT_ONCE, heavy=True), TaskQueue(INDEX_QUEUE, 1)),
    workflows=workflows,
    activities=activities,
    schedules=schedules,
    # Every slice imports its own.
    tables=("pressbox.curator.slices",),
    topics=topics,
    quotas=quotas,
    audiences=audiences,
    router=router,
    commands=(
        CommandWord("feeds", "Sources of the reader: feeds and how they are.", partial(command, "feeds")),
        CommandWord("apps", "Passwords for reader apps.", partial(command, "apps")),
        CommandWord(
            "ask",
            "Ask about what you read; prints the answer with its sources, or the passages that fit best.",
            partial(command, "ask"),
        ),
        CommandWord("trigger", "Start work of the reader now.", partial(command, "trigger")),
        CommandWord("schedule", "When the reader works by itself.", partial(command, "schedule")),
    ),
    navigation=NavigationEntry(title="Reader", path=PATH, key="r", icon="page", search=PATH),
    health=health,
    worker_problem=worker_problem,
    measures=measures,
    credentials=credentials,
    paid=(
        PaidService("model", ("PRESSBOX_CURATOR_MODEL_KEY",), has_model),
        PaidService("deepl", ("PRESSBOX_CURATOR_DEEPL_KEY",), has_deepl),
        PaidService("microsoft", ("PRESSBOX_CURATOR_MICROSOFT_KEY",), has_microsoft),
    ),
    personal_data=personal_data,
    cookieless=COOKIELESS,
    body_limits=BODY_LIMITS,
    # Whoever opens an entry has read it.
    never_prefetched=(f"{PATH}/entries/*",),
)
