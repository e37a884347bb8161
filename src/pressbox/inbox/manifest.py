"""The inbox: what a person was told, and what they follow.

core/notices/  where applications say what happened, and who follows what; every application may use it
store.py       the inbox of one person
pages.py       the pages `/inbox` and `/follows`
api.py         the same for programs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import AppManifest, LiveTopic, NavigationEntry, PersonalData, load_nothing
from pressbox.core.today.contracts import Place

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.members import AudienceKind
    from pressbox.core.quotas.quota import Quota
    from pressbox.core.today.contracts import SearchGroup, TodaySection


def router() -> APIRouter:
    from pressbox.core.web.joining import join_routers
    from pressbox.inbox import api, pages

    return join_routers(pages.router, api.router)


def topics() -> Sequence[LiveTopic]:
    from pressbox.core.notices.publish import NOTICE_CHANGED
    from pressbox.core.notices.reader import find_told

    return (LiveTopic(NOTICE_CHANGED, load_nothing, find_told),)


def audiences() -> Sequence[AudienceKind]:
    from pressbox.core.notices.reader import TOLD

    return (TOLD,)


def quotas() -> Sequence[Quota]:
    from pressbox.core.notices.follows import FOLLOWS

    return (FOLLOWS,)


def personal_data() -> PersonalData:
    from pressbox.inbox.personal_data import PERSONAL_DATA

    return PERSONAL_DATA


def search() -> Sequence[SearchGroup]:
    from pressbox.inbox.finding import GROUPS

    return GROUPS


def today() -> Sequence[TodaySection]:
    from pressbox.inbox.finding import SECTIONS

    return SECTIONS


APP = AppManifest(
    name="inbox",
    package="pressbox.inbox",
    title="Inbox",
    summary="What happened to the teams, matches, feeds and stories you follow.",
    topics=topics,
    audiences=audiences,
    quotas=quotas,
    router=router,
    personal_data=personal_data,
    search=search,
    today=today,
    help=(Place("What you follow", "/follows", "mute teams leagues feeds stories stop following notices"),),
    navigation=NavigationEntry(title="Inbox", path="/inbox", key="i", icon="tray", personal=True),
    # Loading it ahead would mark it as read.
    never_prefetched=("/inbox/notices/*",),
    # The page of a signed link repeats it.
    secret_paths=(r"/follows/stop",),
)
