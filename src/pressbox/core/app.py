"""What an application is: a manifest. Worker, web, command line and schedules are loops over manifests.

A manifest is cheap to import, because the command line reads all of them before it does anything: it names its parts,
and the functions in it import what they need when they are called.

`Resources` is what a process has once it is connected; `entry/wiring.py` makes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, Union

from pressbox.core.today.contracts import FoundThing

if TYPE_CHECKING:
    import typer
    from fastapi import APIRouter
    from sqlalchemy.ext.asyncio import AsyncSession
    from temporalio.client import Client

    from pressbox.core.audiences.contracts import Audience
    from pressbox.core.audiences.members import AudienceKind, Viewer
    from pressbox.core.config import Group, Settings
    from pressbox.core.contracts import Contract
    from pressbox.core.db.database import Database, UnitOfWork
    from pressbox.core.digests import DigestSection, DigestSpan
    from pressbox.core.health import PartHealth
    from pressbox.core.http.client import GuardedClient
    from pressbox.core.measures import Measure
    from pressbox.core.notices.followed import ListFollowed
    from pressbox.core.notices.kinds import NoticeKind
    from pressbox.core.objects.store import ObjectStore
    from pressbox.core.quotas.quota import Quota
    from pressbox.core.spending.services import PaidService
    from pressbox.core.stored_settings.sections import SettingsSection
    from pressbox.core.today.contracts import ListAttention, Place, SearchGroup, TodaySection


@dataclass(frozen=True)
class Resources:
    """Everything from outside that an application may use, connected and ready."""

    settings: Settings
    database: Database
    temporal: Client
    objects: ObjectStore
    http: GuardedClient
    # What applications opened with these resources, to be closed before them.
    exits: AsyncExitStack = field(default_factory=AsyncExitStack, compare=False)
    # The settings before those were laid under them that were set on pages; None where nobody looked for any.
    from_environment: Settings | None = None
    # All applications here: what joins them asks each for its part.
    manifests: tuple[AppManifest, ...] = field(default=(), compare=False, repr=False)

    @property
    def environment(self) -> Settings:
        """The settings as the environment alone gives them."""
        return self.from_environment or self.settings


class OpenResources(Protocol):
    """How a command gets the resources: `context.obj` of every command is one of these."""

    def __call__(self) -> AbstractAsyncContextManager[Resources]: ...

    def settings(self) -> Settings:
        """The settings with the key of this instance, for a command that needs no running parts."""
        ...


@dataclass(frozen=True)
class TaskQueue:
    """A queue and how much of it one worker takes at a time. None means the worker's own setting.

    Of a `heavy` queue it takes less while the machine is short of memory or processor time.
    """

    name: str
    max_concurrent_activities: int | None = None
    heavy: bool = False


@dataclass(frozen=True)
class ScheduleDeclaration:
    """A schedule as the application wants it. Exactly one of `every` and `cron` is set; times are UTC.

    A schedule with `rest_every` may run as seldom as that while there is nothing to do, see `core/temporal/pace.py`.
    """

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
    rest_every: timedelta | None = None

    def __post_init__(self) -> None:
        if (self.every is None) == (self.cron is None):
            raise ValueError(f"Schedule {self.id} needs exactly one of every and cron.")


# Of some keys, what people see of each thing.
LoadMany = Callable[["Resources", Sequence[str]], Awaitable[Mapping[str, Mapping[str, Any]]]]
# Of some keys those that are known, with who may follow them.
FindAudiences = Callable[["UnitOfWork", Collection[str]], Awaitable[Mapping[str, "Audience"]]]


async def load_nothing(_: Resources, keys: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """For topics that only say that something changed: pages ask again for their part, with their own rights."""
    return {key: {} for key in keys}


@dataclass(frozen=True)
class LiveTopic:
    """A kind of thing that browsers can follow. `load_many` gives what they see of some; what is gone it leaves out.

    `audience` says who hears of it: one audience for all of the kind, or a function that finds those of some keys.
    With `by_name` one thing has to be named, and who does not belong to its audience is refused. Administrators who do
    not belong to it hear the `outline` of what was loaded, where the topic has one.
    """

    kind: str
    load_many: LoadMany
    audience: Audience | FindAudiences
    by_name: bool = False
    outline: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Credential:
    """Something lasting that opens a person's things, as its owner recognises it in a list."""

    id: str
    name: str
    created_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True)
class CredentialKind:
    """A kind of lasting credential. All of a person end with their password, unless they keep some by name.

    `revoke` takes ids that `load` gave; both work inside the transaction that changes the account.
    """

    name: str
    title: str
    load: Callable[[AsyncSession, int], Awaitable[Sequence[Credential]]]
    revoke: Callable[[AsyncSession, int, Collection[str]], Awaitable[None]]


@dataclass(frozen=True)
class PersonalData:
    """What an application keeps of a person.

    `export` gives everything of theirs, as rows by a name that becomes a file. `erase` ends what runs for them and
    removes what does not hang on their row in `core.users`; it is harmless to repeat. It returns the tables in which
    something of theirs still has to finish, such as messages to others: for these an account without a name stays for
    a day.
    """

    export: Callable[[Resources, int], Awaitable[Mapping[str, Sequence[Mapping[str, Any]]]]]
    erase: Callable[[Resources, int], Awaitable[Collection[str]]]


@dataclass(frozen=True)
class AccountSection:
    """A section of the account page: its template, and what that needs to know of a person."""

    template: str
    load: Callable[[Resources, int], Awaitable[Mapping[str, Any]]]


class Mailer(Protocol):
    """Sends mail of the instance itself."""

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> None:
        """Raise an error if the mail was not accepted."""
        ...


@dataclass(frozen=True)
class OfflineThing:
    """Something that can be read without network. `html` is sanitised; an article says by which number it is marked."""

    path: str
    title: str
    detail: str = ""
    at: datetime | None = None
    html: str = ""
    entry: int | None = None
    read: bool = False
    starred: bool = False


@dataclass(frozen=True)
class ShareTarget:
    """Pages that take what is shared with Pressbox: one `address`, one `text` as `name` and `description`."""

    address: str = ""
    text: str = ""


# What a person can read of an application without network.
LoadOffline = Callable[["Resources", "Viewer"], Awaitable[Sequence[OfflineThing]]]


@dataclass(frozen=True)
class WrittenAbout:
    """What to look for: texts that name one word of each group, published in this span. `limit` is the most wanted."""

    names: tuple[tuple[str, ...], ...]
    since: datetime
    until: datetime
    limit: int


# What a person may read about something, newest first.
FindWritten = Callable[["Resources", "Viewer", WrittenAbout], Awaitable[Sequence[FoundThing]]]
# What an application has to say in the digest of a person; None: nothing.
WriteSection = Callable[["Resources", "Viewer", "DigestSpan"], Awaitable["DigestSection | None"]]


@dataclass(frozen=True)
class NavigationEntry:
    """A place in the top line: `key` is the letter that follows `g`, `search` a page that takes words as `q`.

    A `personal` one stands beside activity and account, with the number of what is unread.
    """

    title: str
    path: str
    key: str
    icon: str
    search: str = ""
    personal: bool = False


# A function is a command, a Typer is a group of them.
Command = Union["typer.Typer", Callable[..., None]]


def import_later(target: str) -> Callable[[], Command]:
    """A command by its name, “module:attribute”."""

    def load() -> Command:
        module, _, attribute = target.partition(":")
        found: Command = getattr(import_module(module), attribute)
        return found

    return load


@dataclass(frozen=True)
class CommandWord:
    """A word of the program, such as `feeds` in `pressbox feeds list`. Help shows `summary` without loading it."""

    name: str
    summary: str
    load: Callable[[], Command]


# The workflow classes, and the bound activity methods, of each task queue.
WorkflowsByQueue = Mapping[str, Sequence[type]]
ActivitiesByQueue = Mapping[str, Sequence[Callable[..., Any]]]


@dataclass(frozen=True)
class AppManifest:
    """One application. Whatever it does not have it leaves out."""

    name: str
    title: str
    summary: str
    # Where its `templates`, `static` and `translations` folders are found.
    package: str | None = None
    # Its settings are called PRESSBOX_NAME_….
    settings: Callable[[], type[Group]] | None = None
    # Which of its settings an administrator may set on pages.
    sections: Callable[[], Sequence[SettingsSection]] = lambda: ()
    queues: tuple[TaskQueue, ...] = ()
    workflows: Callable[[], WorkflowsByQueue] = lambda: {}
    activities: Callable[[Resources], ActivitiesByQueue] = lambda _: {}
    schedules: Callable[[Settings], Sequence[ScheduleDeclaration]] = lambda _: ()
    # Runs beside a worker of its queues for as long as that polls: to see, without Temporal, when something is due.
    beside_worker: Callable[[Resources], Coroutine[Any, Any, None]] | None = None
    # Modules that define tables, or import those that do.
    tables: tuple[str, ...] = ()
    topics: Callable[[], Sequence[LiveTopic]] = lambda: ()
    # Audiences of its own, which its workflows and topics name.
    audiences: Callable[[], Sequence[AudienceKind]] = lambda: ()
    # How much one person may have or do of what this application makes.
    quotas: Callable[[], Sequence[Quota]] = lambda: ()
    router: Callable[[], APIRouter] | None = None
    navigation: NavigationEntry | None = None
    # What the field in the top line finds in it.
    search: Callable[[], Sequence[SearchGroup]] = lambda: ()
    # Pages of it that answer “how do I …”.
    help: tuple[Place, ...] = ()
    # What it shows of itself on the first page, and what somebody should look at.
    today: Callable[[], Sequence[TodaySection]] = lambda: ()
    attention: ListAttention | None = None
    # What it has that was written about something, by the names of it and around its date.
    written: FindWritten | None = None
    # Kinds of notices that people can choose among when they follow something of it.
    notice_kinds: Callable[[], Sequence[NoticeKind]] = lambda: ()
    # Beginnings of subjects whose followers it reminds before they begin.
    reminded_subjects: tuple[str, ...] = ()
    # What it tells people of by name, for the page of what they follow and for the lines of the inbox.
    followed: ListFollowed | None = None
    # What phones keep of it, to be read without network.
    offline: LoadOffline | None = None
    # Where what is shared with Pressbox goes.
    share: ShareTarget | None = None
    # Its part of the digest that a person gets once a day or a week.
    digest: WriteSection | None = None
    commands: tuple[CommandWord, ...] = ()
    # Parts of its own for the status page, such as outside services that it asks.
    health: Callable[[Resources], Awaitable[Sequence[PartHealth]]] | None = None
    # What keeps a worker of these queues from doing its work, if anything does: it is not ready then.
    worker_problem: Callable[[Resources, Collection[str]], Awaitable[str | None]] | None = None
    # Numbers about what people wait for in it, for /metrics.
    measures: Callable[[], Sequence[Measure]] = lambda: ()
    # Lasting credentials that it hands out: they end with the password of their owner.
    credentials: Callable[[], Sequence[CredentialKind]] = lambda: ()
    # A section of its own on the account page.
    account_section: AccountSection | None = None
    # What it keeps of people, for the export of their data and for the end of their account.
    personal_data: Callable[[], PersonalData] | None = None
    # Seals everything of its own with the present instance key, after the key was changed; returns how much that was.
    seal_again: Callable[[Resources], Awaitable[int]] | None = None
    # How it sends mail, when it can: mail about accounts goes the same way.
    mailer: Callable[[Settings], Mailer | None] | None = None
    # Services that bill requests to the instance.
    paid: tuple[PaidService, ...] = ()
    # Beginnings of paths that no cookie opens, because whoever asks there need not be a page of ours.
    cookieless: tuple[str, ...] = ()
    # Patterns of paths that take more than a form or JSON does: `security.MOST_BODY_BYTES`; and how much.
    body_limits: tuple[tuple[str, int], ...] = ()
    # Patterns of paths whose answers carry something lasting and secret: their length must not tell of it.
    secret_paths: tuple[str, ...] = ()
    # Patterns of paths that a browser must not load before somebody opens them.
    never_prefetched: tuple[str, ...] = ()
