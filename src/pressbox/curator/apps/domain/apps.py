"""People's own apps: the passwords they sign in with, and views that are read as feeds. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pressbox.curator.reading.domain import ListKind, Selection, Sort


@dataclass(frozen=True)
class AppPasswordView:
    """A password as its owner sees it: enough to recognise it, not enough to use it."""

    id: int
    name: str
    hint: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True)
class NewAppPassword:
    """A password at its making, the only moment at which `secret` can be shown."""

    secret: str
    view: AppPasswordView


@dataclass(frozen=True)
class StoredPassword:
    id: int
    user_id: int
    password_hash: str


@dataclass(frozen=True)
class AppPerson:
    """Whoever an app acts for."""

    user_id: int
    email: str
    name: str
    since: datetime


@dataclass(frozen=True)
class StoredView:
    id: int
    user_id: int
    token: str
    view: Mapping[str, Any]
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True)
class ViewFeed:
    """A list of a person as a feed, with summaries or with whole articles."""

    id: int
    user_id: int
    token: str
    selection: Selection
    full_text: bool
    created_at: datetime
    last_used_at: datetime | None
    # What the list is called; empty when its source, category or label is gone.
    name: str = ""


def stored_view(selection: Selection, *, full_text: bool) -> dict[str, Any]:
    return {
        "kind": selection.kind.value,
        "id": selection.id,
        "unread_only": selection.unread_only,
        "sort": selection.sort.value,
        "query": selection.query,
        "full_text": full_text,
    }


def view_feed(stored: StoredView) -> ViewFeed:
    view = stored.view
    selection = Selection(
        kind=ListKind(view["kind"]),
        id=view["id"],
        unread_only=bool(view["unread_only"]),
        sort=Sort(view["sort"]),
        query=str(view["query"]),
    )
    return ViewFeed(
        id=stored.id,
        user_id=stored.user_id,
        token=stored.token,
        selection=selection,
        full_text=bool(view["full_text"]),
        created_at=stored.created_at,
        last_used_at=stored.last_used_at,
    )
