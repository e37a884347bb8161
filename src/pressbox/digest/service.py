"""The desk where digests are written: asks every application for its part, and sends what there is to say."""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import Clock, utc_now
from pressbox.core.digests import DigestSection, DigestSpan, cover
from pressbox.core.errors import ConflictError, PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.notices.publish import Notice
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.delivery.wiring import public_url
from pressbox.digest.contracts import DigestPage
from pressbox.digest.domain import Choice, next_due, settle, stamp
from pressbox.digest.store import SETTLING, Claim, DigestStore, Issue
from pressbox.digest.text import Words, write_body, write_detail, write_title

log = get_logger(__name__)

PATH = "/digest"
SUBJECT = "digest"
KIND = "digest"
# An application that does not answer now may do so in a while; until then nothing of the digest is lost.
PAUSE = timedelta(minutes=5)
SECOND = timedelta(seconds=1)


class Outcome(StrEnum):
    """What became of one that was due, as `DigestPage` counts it."""

    SENT = "sent"
    EMPTY = "empty"
    LATE = "late"
    FAILED = "failed"


@dataclass(frozen=True)
class Preview:
    """What a digest would say now."""

    since: datetime
    until: datetime
    sections: Sequence[DigestSection]


def notice_key(user_id: int, period: datetime) -> str:
    return f"digest.{user_id}.{stamp(period)}"


def issue_path(period: datetime) -> str:
    return f"{PATH}/{stamp(period)}"


class DigestDesk:
    def __init__(self, resources: Resources, now: Clock = utc_now, store: DigestStore | None = None) -> None:
        self._resources = resources
        self._store = store or DigestStore(resources.database)
        self._now = now

    async def send_page(self, owner: str, limit: int) -> DigestPage:
        """Each person's digest succeeds or fails alone."""
        claims = await self._store.claim_due(owner, self._now(), limit)
        outcomes: Counter[Outcome] = Counter()
        reason = ""
        for claim in claims:
            try:
                outcomes[await self._send_due(claim)] += 1
            except PressboxError as error:
                log.warning("digest_postponed", msg="A digest cannot be written now", error=error.message)
                await self._store.postpone(claim, PAUSE)
                outcomes[Outcome.FAILED] += 1
                reason = error.message
        counts = {outcome.value: number for outcome, number in outcomes.items()}
        return DigestPage(claimed=len(claims), reason=reason, **counts)

    async def _send_due(self, claim: Claim) -> Outcome:
        now = self._now()
        if claim.due_at is None:
            return Outcome.EMPTY
        due = settle(claim.choice, claim.due_at, now)
        if due.period is None:
            # The next one begins where the last one ended: what happened meanwhile is in it.
            await self._store.move_on(claim, due.next, claim.since)
            return Outcome.LATE
        issue = await self._issue(claim, due.period, due.next, now)
        return Outcome.EMPTY if issue is None else Outcome.SENT

    async def _issue(self, claim: Claim, period: datetime, next: datetime | None, now: datetime) -> Issue | None:
        """Write it and send it, or go on to the next one when there is nothing to say."""
        sections = await self._collect(claim, may_pay=True)
        if not sections:
            await self._store.move_on(claim, next, claim.until)
            return None
        issue = Issue(period, claim.choice.rhythm, claim.since, claim.until, sections)
        notice = await self._notice(claim, issue, now)
        return issue if await self._store.send(claim, notice, issue, next, now) else None

    async def send_now(self, user_id: int, choice: Choice) -> Issue | None:
        """Send one at once, whenever the next is due; that one goes on from here. None: there is nothing to say."""
        now = self._now()
        if await self._store.load(user_id) is None:
            await self._store.save(user_id, choice, now)
        claim = await self._store.claim(user_id, f"now/{secrets.token_hex(8)}", now)
        if claim is None:
            raise ConflictError("Your digest is being written at this moment. Look into your inbox in a minute.")
        try:
            # Two within a second are two.
            last = next(iter(await self._store.list_issues(user_id)), None)
            period = now.replace(microsecond=0)
            period = max(period, last.period + SECOND) if last else period
            return await self._issue(claim, period, next_due(claim.choice, now), now)
        except PressboxError:
            await self._store.postpone(claim, timedelta(0))
            raise

    async def preview(self, user_id: int, choice: Choice, viewer: Viewer, language: str | None) -> Preview:
        """What one would say now. Nothing is paid for, sent or moved on."""
        known = await self._store.load(user_id)
        until = self._now() - SETTLING
        since = min(known.covered_until, until) if known else until - choice.rhythm.period
        span = DigestSpan(since, until, until + choice.rhythm.period, language=language)
        return Preview(since, until, await self.show(user_id, await self._ask(viewer, span)))

    async def show(self, user_id: int, sections: Sequence[DigestSection]) -> Sequence[DigestSection]:
        """What a digest says, as this person may read it now."""
        sight = await PersonalSpoilers(self._resources.database).load_sight(user_id)
        return [cover(section, sight.known_until) for section in sections]

    async def _collect(self, claim: Claim, *, may_pay: bool) -> Sequence[DigestSection]:
        kinds = tuple(kind for manifest in self._resources.manifests for kind in manifest.audiences())
        viewer = Viewer(claim.user_id, claim.is_administrator, kinds)
        ahead = claim.until + claim.choice.rhythm.period
        return await self._ask(viewer, DigestSpan(claim.since, claim.until, ahead, may_pay, claim.language))

    async def _ask(self, viewer: Viewer, span: DigestSpan) -> Sequence[DigestSection]:
        """An application that fails fails the digest: half of it would pass for all that happened."""
        asked = [manifest.digest for manifest in self._resources.manifests if manifest.digest is not None]
        found = [await write(self._resources, viewer, span) for write in asked]
        return [section for section in found if section is not None and section.lines]

    async def _notice(self, claim: Claim, issue: Issue, now: datetime) -> Notice:
        packages = tuple(one.package for one in self._resources.manifests if one.package)
        words = Words(claim.language, packages, claim.choice.zone)
        read = await self.show(claim.user_id, issue.sections)
        base = public_url(self._resources.settings)
        return Notice(
            key=notice_key(claim.user_id, issue.period),
            application="digest",
            kind=KIND,
            subject=SUBJECT,
            heading="Digest",
            followed=(),
            title=words.say(write_title(issue.rhythm)),
            detail=write_detail(read, words),
            path=issue_path(issue.period),
            occurred_at=now,
            body=write_body(read, words, base),
        )
