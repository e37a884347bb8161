"""The reader as an application: what its slices add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    Command,
    CommandWord,
    CredentialKind,
    FoundThing,
    LiveTopic,
    NavigationEntry,
    PersonalData,
    Resources,
    ScheduleDeclaration,
    TaskQueue,
    WorkflowsByQueue,
)
from pressbox.core.spending.services import PaidService
from pressbox.curator.names import COOKIELESS, HEAVY_QUEUE, INDEX_QUEUE, PATH, QUEUE

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.members import AudienceKind, Viewer
    from pressbox.core.config import Settings
    from pressbox.core.health import PartHealth
    from pressbox.core.quotas.quota import Quota
    from pressbox.core.stored_settings.sections import SettingsSection
    from pressbox.curator.settings import CuratorSettings

# Most of these wait for a page, a host's turn or a model; what computes is bounded by the adapters.
HEAVY_AT_ONCE = 32


def settings() -> type[CuratorSettings]:
    from pressbox.curator.settings import CuratorSettings

    return CuratorSettings


async def find(resources: Resources, viewer: Viewer, words: str, limit: int) -> Sequence[FoundThing]:
    from pressbox.curator.reading.finding import find_things

    return await find_things(resources, viewer, words, limit)


async def news(resources: Resources, viewer: Viewer, limit: int) -> Sequence[FoundThing]:
    from pressbox.curator.reading.finding import list_news

    return await list_news(resources, viewer, limit)


def sections() -> Sequence[SettingsSection]:
    from pressbox.curator.models.section import MODEL

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
    from fastapi import APIRouter

    from pressbox.curator.ask.passages import find_passage
    from pressbox.curator.cards.pages import CONTEXT_TAB
    from pressbox.curator.reading.passages import set_passage_finder
    from pressbox.curator.reading.tabs import set_tabs
    from pressbox.curator.slices import SLICES
    from pressbox.curator.translate.pages import TRANSLATION_TAB

    # Slices above reading add to the page of an article.
    set_tabs((TRANSLATION_TAB, CONTEXT_TAB))
    set_passage_finder(find_passage)
    whole = APIRouter()
    for part in SLICES:
        for one in part.routers():
            whole.include_router(one)
    return whole


def personal_data() -> PersonalData:
    from pressbox.curator.personal_data import PERSONAL_DATA

    return PERSONAL_DATA


def credentials() -> Sequence[CredentialKind]:
    from pressbox.curator.apps.credentials import CREDENTIALS

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


async def health(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.curator.slices import SLICES

    return [found for part in SLICES if part.health for found in await part.health(resources)]


APP = AppManifest(
    name="curator",
    package="pressbox.curator",
    settings=settings,
    sections=sections,
    find=find,
    news=news,
    secret_paths=(rf"{PATH}/apps", r"/accounts/ClientLogin", r".*/token$"),
    title="Reader",
    summary="Feeds, the articles behind them, their gist, and an answer to what you know about a subject.",
    queues=(TaskQueue(QUEUE), TaskQueue(HEAVY_QUEUE, HEAVY_AT_ONCE), TaskQueue(INDEX_QUEUE, 1)),
    workflows=workflows,
    activities=activities,
    schedules=schedules,
    tables=(
        "pressbox.curator.apps.store",
        "pressbox.curator.ask.store",
        "pressbox.curator.cards.store",
        "pressbox.curator.context.store",
        "pressbox.curator.evaluate.store",
        "pressbox.curator.graph.rows",
        "pressbox.curator.library.rows",
        "pressbox.curator.research.store",
        "pressbox.curator.translate.store",
    ),
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
    credentials=credentials,
    paid=(
        PaidService("model", ("PRESSBOX_CURATOR_MODEL_KEY",), has_model),
        PaidService("deepl", ("PRESSBOX_CURATOR_DEEPL_KEY",), has_deepl),
        PaidService("microsoft", ("PRESSBOX_CURATOR_MICROSOFT_KEY",), has_microsoft),
    ),
    personal_data=personal_data,
    cookieless=COOKIELESS,
    # Whoever opens an entry has read it.
    never_prefetched=(f"{PATH}/entries/*",),
)
