"""Finds leagues and teams by name, and follows them at once."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from temporalio.service import RPCError

from pressbox.core.app import Resources
from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, NotFoundError, PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.notices.follows import PersonalFollows
from pressbox.footy.adapters.api_football import ApiFootball
from pressbox.footy.adapters.directory import SqlDirectory
from pressbox.footy.adapters.follows import SqlFollows, followed_of, keys_of, subject_of
from pressbox.footy.adapters.request_budgets import open_budget
from pressbox.footy.adapters.workflows import TemporalWorkflows
from pressbox.footy.domain.directory import Entry, asked_text, plain_words, rank_entries
from pressbox.footy.domain.fixtures import Followed
from pressbox.footy.domain.names import SHORTEST_SEARCH
from pressbox.footy.domain.views import FollowKind, FollowView, FoundEntry
from pressbox.footy.ids import LEAGUE_SUBJECT, PATH, QUEUE, TEAM_SUBJECT, team_path
from pressbox.footy.ports.outside import NamesApi
from pressbox.footy.ports.storage import TeamName
from pressbox.footy.ports.workflows import FollowedFetch
from pressbox.footy.settings import FootySettings

log = get_logger(__name__)

MOST_TEAMS = 12
MOST_LEAGUES = 6
# Somebody waits for the page; the daily ingest fetches the matches otherwise.
START_TIME = timedelta(seconds=3)


@dataclass(frozen=True)
class Found:
    """What a search by name found. `may_ask`: API-Football may know more."""

    teams: Sequence[FoundEntry] = ()
    leagues: Sequence[FoundEntry] = ()
    may_ask: bool = False

    @property
    def entries(self) -> Sequence[FoundEntry]:
        return (*self.leagues, *self.teams)


@dataclass(frozen=True)
class FollowOutcome:
    """What is followed now, and whether its matches are being fetched."""

    entry: Entry
    fetching: bool


class Following:
    """`api` is None without a key: then the lists of the program and the names of known fixtures answer."""

    def __init__(
        self,
        follows: SqlFollows,
        directory: SqlDirectory,
        api: NamesApi | None,
        workflows: FollowedFetch,
        personal: PersonalFollows,
        now: Clock = utc_now,
    ) -> None:
        self._follows = follows
        self._directory = directory
        self._api = api
        self._workflows = workflows
        self._personal = personal
        self._now = now

    async def search(self, query: str, own: Followed | None = None) -> Found:
        """Search in what is known here, which costs nothing. Entries say whether they are among `own`, or followed."""
        words = plain_words(query)
        if len("".join(words)) < SHORTEST_SEARCH:
            return Found()
        entries = await self._directory.search(words)
        followed = own if own is not None else await self._follows.load_followed()
        near = frozenset(view.country.casefold() for view in await self._follows.load_follows())

        def best(kind: FollowKind, most: int) -> Sequence[FoundEntry]:
            of_kind = (entry for entry in entries if entry.kind is kind)
            return [_found(entry, followed) for entry in rank_entries(of_kind, words, near, most)]

        text = asked_text(query)
        may_ask = bool(self._api and text) and not await self._directory.is_asked(text, self._now())
        return Found(best(FollowKind.TEAM, MOST_TEAMS), best(FollowKind.LEAGUE, MOST_LEAGUES), may_ask)

    async def ask(self, query: str) -> None:
        """Have API-Football search, unless it has answered this before. What it finds is kept."""
        text = asked_text(query)
        if self._api is None or not text or await self._directory.is_asked(text, self._now()):
            return
        teams = await self._api.search_teams(text)
        leagues = await self._api.search_leagues(text)
        await self._directory.note_asked(text, (*teams, *leagues), self._now())

    async def follow(self, kind: FollowKind, number: int, name: str = "") -> FollowOutcome:
        """Follow it for everybody: its matches are fetched, whoever follows them or not."""
        entry = await self._load_entry(kind, number, name)
        await self._follows.follow(kind, number, entry.name)
        return await self._begin(entry)

    async def follow_for(self, user_id: int, kind: FollowKind, number: int, timezone: str = "") -> FollowOutcome:
        """Follow it for this person: its matches are fetched, and they hear of its goals."""
        entry = await self._load_entry(kind, number)
        name = entry.name or f"{kind.capitalize()} {number}"
        await self._personal.follow(user_id, subject_of(kind, number), name, _page_of(kind, number, name), timezone)
        return await self._begin(entry)

    async def find_team(self, number: int) -> Entry | None:
        """A team by its id, with the names that texts use for it."""
        entry = await self._directory.load_entry(FollowKind.TEAM, number)
        try:
            known = await self._follows.load_team(number)
        except NotFoundError:
            return entry
        return Entry(
            FollowKind.TEAM, number, known.name, known.country or (entry.country if entry else ""), known.aliases
        )

    async def unfollow_for(self, user_id: int, kind: FollowKind, number: int) -> None:
        await self._personal.unfollow(user_id, subject_of(kind, number))

    async def load_own(self, user_id: int) -> Followed:
        """What this person follows."""
        prefixes = (LEAGUE_SUBJECT, TEAM_SUBJECT)
        found = [await self._personal.list_subjects(user_id, prefix) for prefix in prefixes]
        return followed_of(keys_of(subject for subjects in found for subject in subjects))

    async def _load_entry(self, kind: FollowKind, number: int, name: str = "") -> Entry:
        entry = await self._directory.load_entry(kind, number)
        if entry is None and number < 0:
            raise NotFoundError("There is no such team. Search for it again.")
        return entry or Entry(kind, number, " ".join(name.split()))

    async def _begin(self, entry: Entry) -> FollowOutcome:
        if entry.is_listed_only:
            entry = await self._identify(entry)
        return FollowOutcome(entry, await self._fetch())

    async def choose(self, name: str) -> FoundEntry:
        """The one league or team that this name means; otherwise an InvalidInputError that lists the choices."""
        if key := _read_key(name):
            entry = await self._directory.load_entry(*key) or Entry(*key, "")
            return FoundEntry(entry.kind, entry.id, entry.name, entry.country, followed=False)
        found = await self.search(name)
        if found.may_ask:
            await self.ask(name)
            found = await self.search(name)
        if not found.entries:
            raise NotFoundError("No team or league of this name is known. Check the spelling, or try fewer letters.")
        return _only_one(name, found.entries)

    async def unfollow_by_name(self, name: str) -> FollowView:
        follows = await self._follows.load_follows()
        key, words = _read_key(name), plain_words(name)
        fitting = [view for view in follows if (view.kind, view.id) == key or plain_words(view.name) == words != ()]
        if not fitting:
            raise NotFoundError("Nothing of this name is followed. `pressbox footy following` lists what is.")
        if len(fitting) > 1:
            raise _ambiguous(fitting)
        await self._follows.unfollow(fitting[0].kind, fitting[0].id)
        return fitting[0]

    async def unfollow(self, kind: FollowKind, number: int) -> None:
        await self._follows.unfollow(kind, number)

    async def _identify(self, entry: Entry) -> Entry:
        """Look up which team of API-Football a club of the list is; what fails now, the next ingest does."""
        try:
            await self.ask(entry.name)
        except PressboxError as error:
            log.info("team.unidentified", msg=f"API-Football was not asked for a team: {error.message}")
        known = await self._directory.search(plain_words(entry.name))
        teams = [TeamName(one.id, one.name, one.country) for one in known if one.kind is FollowKind.TEAM and one.id > 0]
        number = (await self._follows.identify(teams)).get(entry.id)
        return entry if number is None else Entry(entry.kind, number, entry.name, entry.country)

    async def _fetch(self) -> bool:
        if self._api is None:
            return False
        try:
            async with asyncio.timeout(START_TIME.total_seconds()):
                await self._workflows.fetch_followed()
        except (PressboxError, RPCError, TimeoutError) as error:
            log.warning("follow.unfetched", msg=f"The matches of a follow wait for the daily ingest: {error}")
            return False
        return True


def build_following(resources: Resources) -> Following:
    footy, database = resources.settings.group(FootySettings), resources.database
    api = ApiFootball(resources.http, footy, open_budget(database, footy)) if footy.api_key else None
    workflows = TemporalWorkflows(resources.temporal, QUEUE, footy.policy)
    follows, personal = SqlFollows(database, footy.followed), PersonalFollows(database)
    return Following(follows, SqlDirectory(database), api, workflows, personal)


def _page_of(kind: FollowKind, number: int, name: str) -> str:
    """A team that only the list of the program knows has no page yet: its name finds it."""
    if kind is FollowKind.TEAM:
        return team_path(number) if number > 0 else f"{PATH}/search?{urlencode({'q': name})}"
    return PATH


def _read_key(name: str) -> tuple[FollowKind, int] | None:
    """The kind and id in a word such as team:42."""
    match = re.fullmatch(r"\s*(team|league):(-?\d{1,9})\s*", name)
    return (FollowKind(match[1]), int(match[2])) if match else None


def _only_one(name: str, entries: Sequence[FoundEntry]) -> FoundEntry:
    words = plain_words(name)
    exact = [
        entry for entry in entries if words in (plain_words(entry.name), plain_words(f"{entry.name} {entry.country}"))
    ]
    fitting = exact or entries
    if len(fitting) > 1:
        raise _ambiguous(fitting)
    return fitting[0]


def _ambiguous(fitting: Sequence[FoundEntry | FollowView]) -> InvalidInputError:
    lines = [f"  {one.kind}:{one.id}  {' · '.join(filter(None, (one.name, one.country)))}" for one in fitting]
    return InvalidInputError("\n".join(("Several have this name. Choose one by its id:", *lines)), field="name")


def _found(entry: Entry, followed: Followed) -> FoundEntry:
    numbers = followed.leagues if entry.kind is FollowKind.LEAGUE else followed.teams
    return FoundEntry(entry.kind, entry.id, entry.name, entry.country, entry.id in numbers)
