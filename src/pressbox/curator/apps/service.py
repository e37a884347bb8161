"""What people's own apps do: sign in, synchronise streams, tag items, and read views as feeds."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pressbox.core.accounts.attempts import SignInAttempts
from pressbox.core.accounts.audit import Action, AuditLog, nobody
from pressbox.core.accounts.models import COMMAND_LINE, Actor, Client, Scope
from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed
from pressbox.core.accounts.passwords import Passwords
from pressbox.core.accounts.service import AccountService
from pressbox.core.accounts.tokens import PREFIX as ACCOUNT_TOKEN
from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, NotFoundError, NotSignedInError
from pressbox.core.logs import get_logger
from pressbox.curator.apps.domain import (
    AppPasswordView,
    AppPerson,
    Contents,
    NewAppPassword,
    References,
    Stream,
    StreamKind,
    StreamQuery,
    ViewFeed,
    stored_view,
    tag_change,
    view_feed,
)
from pressbox.curator.apps.store import SqlAppAccess, SqlViewFeeds
from pressbox.curator.apps.stream_store import SqlStreams
from pressbox.curator.reading.domain import ListKind, Selection, SourceLine, SourcesView, check_name
from pressbox.curator.reading.service import MOST_AT_ONCE, ReadingService, StateService, check_selection
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.sources.domain import FeedView
from pressbox.curator.sources.service import SourceService

log = get_logger(__name__)

TOKENS_PER_PASSWORD = 20
VIEW_ENTRIES = 50
TOKEN_PREFIX = "pba_"  # noqa: S105 - how tokens of apps begin, not one of them

# Letters that are not mistaken for one another when somebody types them into a telephone: 25 of them, so that four
# groups of five have 92 bits.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23"
_GROUPS, _GROUP = 4, 5

_REFUSED = "E-mail address or app password is wrong."
_WORDS = {
    ListKind.ALL: "All articles",
    ListKind.UNREAD: "Unread",
    ListKind.STARRED: "Starred",
    ListKind.UP: "More of these",
}


class AppService:
    """An app password opens the reader's API and nothing else; the account's own password never opens that."""

    def __init__(
        self,
        access: SqlAppAccess,
        accounts: AccountService,
        passwords: Passwords,
        attempts: SignInAttempts,
        audit: AuditLog,
    ) -> None:
        self._access = access
        self._audit = audit
        self._accounts = accounts
        self._passwords = passwords
        self._attempts = attempts

    async def add_password(self, user_id: int, name: str, *, by: Actor = COMMAND_LINE) -> NewAppPassword:
        """A password that we choose. It is in the answer and nowhere else."""
        secret = _new_password()
        hashed = await self._passwords.hash(secret)
        view = await self._access.create(user_id, check_name(name), secret[:_GROUP], hashed)
        await self._audit.record(Action.CREDENTIAL_ADDED, by, user_id, kind="app-password", name=view.name)
        log.info("app_password_added", msg="An app password was made", user_id=user_id, password_id=view.id)
        return NewAppPassword(secret, view)

    async def passwords(self, user_id: int) -> Sequence[AppPasswordView]:
        return await self._access.all(user_id)

    async def revoke_password(self, user_id: int, password_id: int, *, by: Actor = COMMAND_LINE) -> None:
        """The app that has it is signed out at once."""
        await self._access.revoke(user_id, password_id)
        await self._audit.record(Action.CREDENTIAL_REVOKED, by, user_id, kind="app-password")
        log.info("app_password_removed", msg="An app password was removed", user_id=user_id, password_id=password_id)

    async def sign_in(self, email: str, password: str, client: Client) -> str:
        """What the app sends from now on. Failures are counted as those of the account's sign-in are."""
        subject = email.strip().lower()[:320]
        # We choose these passwords, and nobody guesses one of 92 bits: attempts need not take turns.
        attempt = await self._attempts.admit(subject, client, paced=False)
        secret = await self._token(subject, password.strip(), client)
        # Apps sign in often, and many may share an address: only failures add up.
        await self._attempts.succeed(attempt)
        return secret

    async def authenticate(self, secret: str, client: Client) -> AppPerson:
        if well_formed(secret, ACCOUNT_TOKEN):
            return await self._by_account_token(secret, client)
        found = await self._access.find(_digest(secret)) if well_formed(secret, TOKEN_PREFIX) else None
        if found is None:
            raise NotSignedInError("Sign in with an app password of the page /reader/apps.")
        return found

    async def _token(self, email: str, password: str, client: Client) -> str:
        if well_formed(password, ACCOUNT_TOKEN):
            person = await self._by_account_token(password, client)
            if person.email.lower() != email:
                raise NotSignedInError(_REFUSED)
            return password
        plain = password.lower()
        candidates = await self._access.candidates(email, plain[:_GROUP]) if email.isprintable() else ()
        for candidate in candidates or (None,):
            check = await self._passwords.check(candidate.password_hash if candidate else None, plain)
            if candidate is not None and check.matches:
                secret = new_secret(TOKEN_PREFIX)
                await self._access.begin(candidate.id, _digest(secret), TOKENS_PER_PASSWORD)
                log.info("app_signed_in", msg="An app signed in", user_id=candidate.user_id)
                return secret
        await self._audit.record(Action.SIGN_IN_REFUSED, nobody(client), by="app password")
        log.info("app_sign_in_refused", msg="Wrong e-mail address or app password", address=client.address)
        raise NotSignedInError(_REFUSED)

    async def _by_account_token(self, secret: str, client: Client) -> AppPerson:
        """A token of the account page that was made for reader apps is as good as an app password."""
        found = await self._accounts.authenticate_token(secret, client=client)
        if found is None or Scope.READER not in found.scopes:
            raise NotSignedInError(_REFUSED)
        user = found.user
        return AppPerson(user.id, user.email, user.name, user.created_at)


class ViewService:
    """Lists of a person as feeds. Whoever knows the address may read; it can be taken back at any time."""

    def __init__(
        self,
        views: SqlViewFeeds,
        sidebar: SqlSidebar,
        reading: ReadingService,
        streams: SqlStreams,
        audit: AuditLog,
    ) -> None:
        self._views = views
        self._audit = audit
        self._sidebar = sidebar
        self._reading = reading
        self._streams = streams

    async def create(
        self, user_id: int, selection: Selection, *, full_text: bool, by: Actor = COMMAND_LINE
    ) -> ViewFeed:
        """The same view twice has one address."""
        checked = check_selection(replace(selection, opened_at=None))
        # What is not the person's own is not found, and then there is nothing to publish either.
        await self._reading.load_entries(user_id, checked, limit=1)
        view = stored_view(checked, full_text=full_text)
        made = view_feed(await self._views.create(user_id, new_secret(), view))
        await self._audit.record(Action.CREDENTIAL_ADDED, by, user_id, kind="view-feed")
        log.info("view_feed_added", msg="A view can be read as a feed", user_id=user_id, view_id=made.id)
        return made

    async def all(self, user_id: int) -> Sequence[ViewFeed]:
        sources = await self._sidebar.load(user_id)
        feeds = map(view_feed, await self._views.all(user_id))
        return [replace(feed, name=_name(feed.selection, sources)) for feed in feeds]

    async def name(self, user_id: int, selection: Selection) -> str:
        """What a list is called."""
        return _name(selection, await self._sidebar.load(user_id))

    async def revoke(self, user_id: int, view_id: int, *, by: Actor = COMMAND_LINE) -> None:
        await self._views.revoke(user_id, view_id)
        await self._audit.record(Action.CREDENTIAL_REVOKED, by, user_id, kind="view-feed")
        log.info("view_feed_removed", msg="A view is no longer a feed", user_id=user_id, view_id=view_id)

    async def read(self, token: str) -> tuple[ViewFeed, Contents]:
        """The newest entries of the view. One whose category or label is gone is not found either."""
        stored = await self._views.find(token) if well_formed(token) else None
        if stored is None:
            raise NotFoundError("There is no such feed. Its owner may have removed it.")
        feed = view_feed(stored)
        page = await self._reading.load_entries(feed.user_id, feed.selection, limit=VIEW_ENTRIES)
        contents = await self._streams.some(feed.user_id, [item.id for item in page.items])
        sources = await self._sidebar.load(feed.user_id)
        return replace(feed, name=_name(feed.selection, sources)), contents


def _new_password() -> str:
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def _digest(secret: str) -> str:
    return fingerprint(secret).hex()


def _name(selection: Selection, sources: SourcesView[SourceLine]) -> str:
    return sources.name(selection) if selection.kind.named else _WORDS[selection.kind]


MOST_REFERENCES = 10_000
MOST_CONTENTS = 1_000
MOST_TAGGED = 10_000


class StreamService:
    """Folders and labels have one kind of name in apps: a feed's tag is its folder, an item's tag its label."""

    def __init__(
        self,
        streams: SqlStreams,
        sidebar: SqlSidebar,
        sources: SourceService,
        states: StateService,
        now: Clock = utc_now,
    ) -> None:
        self._streams = streams
        self._sidebar = sidebar
        self._sources = sources
        self._states = states
        self._now = now

    async def references(self, user_id: int, query: StreamQuery) -> References:
        return await self._streams.references(user_id, query)

    async def contents(self, user_id: int, query: StreamQuery) -> Contents:
        return await self._streams.contents(user_id, query)

    async def some(self, user_id: int, entry_ids: Sequence[int]) -> Contents:
        if len(entry_ids) > MOST_CONTENTS:
            raise InvalidInputError(f"At most {MOST_CONTENTS} items at a time.", field="i")
        return await self._streams.some(user_id, entry_ids)

    async def tag(
        self, user_id: int, entry_ids: Sequence[int], added: Sequence[Stream], removed: Sequence[Stream]
    ) -> None:
        """Read, starred and labels of items; what is not the person's is left alone."""
        if len(entry_ids) > MOST_TAGGED:
            raise InvalidInputError(f"At most {MOST_TAGGED} items at a time.", field="i")
        change = tag_change(added, removed)
        if change.read is not None:
            for start in range(0, len(entry_ids), MOST_AT_ONCE):
                await self._states.mark_read(user_id, entry_ids[start : start + MOST_AT_ONCE], read=change.read)
        if change.starred is not None:
            await self._streams.star(user_id, entry_ids, change.starred, self._now())
        for name in change.labels_added:
            await self._streams.label(user_id, entry_ids, check_name(name), add=True)
        for name in change.labels_removed:
            await self._streams.label(user_id, entry_ids, name, add=False)

    async def mark_all_read(self, user_id: int, stream: Stream, until: datetime | None) -> None:
        """What had come at `until`; later arrivals stay unread."""
        for selection in await self._selections(user_id, stream):
            await self._states.mark_all_read(user_id, selection, until=until or self._now())

    async def subscribe(self, user_id: int, stream: Stream, title: str, folder: str) -> FeedView:
        """By the feed's own address: apps look for it themselves, and expect the one they found."""
        category_id = await self._folder(user_id, folder)
        return await self._sources.subscribe(user_id, stream.name, title=title, category_id=category_id)

    async def unsubscribe(self, user_id: int, stream: Stream) -> None:
        await self._sources.unsubscribe(user_id, await self._streams.feed_id(user_id, stream))

    async def place(self, user_id: int, stream: Stream, *, title: str, folder: str, left: Sequence[str]) -> None:
        """What is not said stays: another title, into a folder, or out of the one it is in."""
        feed = await self._sources.feed(user_id, await self._streams.feed_id(user_id, stream))
        category_id = feed.category_id
        if folder:
            category_id = await self._folder(user_id, folder)
        elif feed.category in left:
            category_id = None
        await self._sources.place(user_id, feed.id, title=title or feed.own_title, category_id=category_id)

    async def rename_tag(self, user_id: int, old: str, new: str) -> None:
        """A folder, a label, or both when they have the same name."""
        sources = await self._sidebar.load(user_id)
        folders, labels = _named(sources, old)
        for number in folders:
            await self._sources.rename_category(user_id, number, new)
        for number in labels:
            await self._states.rename_label(user_id, number, new)
        if not folders and not labels:
            raise NotFoundError("There is no folder and no label of this name.")

    async def delete_tag(self, user_id: int, name: str) -> None:
        folders, labels = _named(await self._sidebar.load(user_id), name)
        for number in folders:
            await self._sources.delete_category(user_id, number)
        for number in labels:
            await self._states.delete_label(user_id, number)
        if not folders and not labels:
            raise NotFoundError("There is no folder and no label of this name.")

    async def _folder(self, user_id: int, name: str) -> int | None:
        return (await self._sources.create_category(user_id, name)).id if name.strip() else None

    async def _selections(self, user_id: int, stream: Stream) -> Sequence[Selection]:
        match stream.kind:
            case StreamKind.ALL | StreamKind.UNREAD:
                return [Selection(ListKind.ALL)]
            case StreamKind.STARRED:
                return [Selection(ListKind.STARRED)]
            case StreamKind.FEED:
                return [Selection(ListKind.FEED, await self._streams.feed_id(user_id, stream))]
            case StreamKind.TAG:
                folders, labels = _named(await self._sidebar.load(user_id), stream.name)
                chosen = [(ListKind.CATEGORY, number) for number in folders]
                chosen += [(ListKind.LABEL, number) for number in labels]
                return [Selection(kind, number) for kind, number in chosen]
            case _:
                return []


def _named(sources: SourcesView[SourceLine], name: str) -> tuple[list[int], list[int]]:
    folders = [category.id for category in sources.categories if category.name == name]
    return folders, [label.id for label in sources.labels if label.name == name]
