"""A match day as the stores leave it: rows, files and the notes that wake browsers, without any worker."""

import hashlib
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import cv2
import numpy as np
from sqlalchemy import delete, update

from pressbox.core.app import Resources
from pressbox.core.notices.rows import FollowRow as PersonalFollowRow
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec
from pressbox.footy.adapters.rows import (
    ClipCandidateRow,
    ClipRow,
    ClipSearchRow,
    DirectoryRow,
    FixtureRow,
    FixtureSnapshotRow,
    FollowRow,
    GoalNoteRow,
    GoalRow,
    GoalRunRow,
    SourceHealthRow,
    TeamRow,
)

SECONDS = 8.0


@cache
def film(seed: int = 1, width: int = 320) -> bytes:
    """A small film of the demo world that browsers play and seek."""
    return make_clip(ClipSpec(seed=seed, clock_start=1380, duration=SECONDS, width=width, height=width * 9 // 16))


@cache
def poster() -> bytes:
    picture = np.full((90, 160, 3), (60, 120, 40), np.uint8)
    cv2.circle(picture, (80, 45), 20, (255, 255, 255), 1)
    return bytes(cv2.imencode(".jpg", picture)[1].tobytes())


@dataclass
class MatchDay:
    """Plants and changes what the pages show. Every change tells the browsers, as the stores do."""

    resources: Resources
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def clear(self) -> None:
        async with self.resources.database.unit_of_work() as work:
            for row in (FixtureRow, TeamRow, FollowRow, PersonalFollowRow, DirectoryRow, SourceHealthRow):
                await work.session.execute(delete(row))

    async def fixture(self, fixture_id: int, home: str = "Liverpool", away: str = "Man City", **values: Any) -> int:
        home_id, away_id = fixture_id * 10 + 1, fixture_id * 10 + 2
        # Early enough that a whole day of any zone around UTC has it, and never tomorrow.
        row: dict[str, Any] = {
            "id": fixture_id,
            "stage": "active",
            "status": "1H",
            "kickoff": self.now.replace(hour=12, minute=0),
            "league_id": 39,
            "league_name": "Premier League",
            "country": "England",
            "round": "Round 11",
            "home_id": home_id,
            "home_name": home,
            "away_id": away_id,
            "away_name": away,
            "elapsed": 30,
            "home_goals": 0,
            "away_goals": 0,
        } | values
        async with self.resources.database.unit_of_work() as work:
            for team_id, name in ((home_id, home), (away_id, away)):
                await work.session.merge(TeamRow(team_id=team_id, name=name, country="England", aliases=[]))
            work.session.add(FixtureRow(**row))
            work.changed("footy.fixture", str(fixture_id))
            work.changed("footy.day", row["kickoff"].date().isoformat())
        return fixture_id

    async def happen(self, fixture_id: int, *events: tuple[int, str, str, str, str], half_time: str = "") -> None:
        """The last answer of the API: minute, type, detail and two players of each event, by turns of both teams."""
        sides = (fixture_id * 10 + 1, "Liverpool"), (fixture_id * 10 + 2, "Man City")
        listed = [
            {
                "time": {"elapsed": minute, "extra": None},
                "team": dict(zip(("id", "name"), sides[place % 2], strict=True)),
                "player": {"id": 1, "name": player},
                "assist": {"id": 2, "name": other or None},
                "type": kind,
                "detail": detail,
                "comments": None,
            }
            for place, (minute, kind, detail, player, other) in enumerate(events)
        ]
        home, _, away = half_time.partition("-")
        score = {"halftime": {"home": int(home), "away": int(away)}} if half_time else {}
        row = FixtureSnapshotRow(
            fixture_id=fixture_id, raw={"events": listed, "score": score}, fetched_by="monitor-x", fetched_at=self.now
        )
        async with self.resources.database.unit_of_work() as work:
            await work.session.merge(row)
            work.changed("footy.fixture", str(fixture_id))

    async def change(self, fixture_id: int, **values: Any) -> None:
        async with self.resources.database.unit_of_work() as work:
            await work.session.execute(update(FixtureRow).where(FixtureRow.id == fixture_id).values(**values))
            work.changed("footy.fixture", str(fixture_id))
            work.changed("footy.day", self.now.date().isoformat())

    async def goal(self, fixture_id: int, player: str = "D. Szoboszlai", elapsed: int = 23, **values: Any) -> str:
        number = next(self._numbers)
        team_id = fixture_id * 10 + 1
        row = {
            "event_id": f"{fixture_id}_{team_id}_{number}_Goal_1",
            "fixture_id": fixture_id,
            "id_team": team_id,
            "id_player": number,
            "sequence": 1,
            "team_id": team_id,
            "team_name": "Liverpool",
            "player_id": number,
            "player_name": player,
            "detail": "Normal Goal",
            "elapsed": elapsed,
            "home_score": 1,
            "away_score": 0,
            "first_seen": self.now,
            "unseen_at": self.now,
            "last_seen": self.now,
            "last_activity": self.now,
            "confirmed_at": self.now,
            "monitor_complete": True,
        } | values
        async with self.resources.database.unit_of_work() as work:
            work.session.add(GoalRow(**row))
            work.changed("footy.fixture", str(fixture_id))
        return str(row["event_id"])

    async def change_goal(self, event_id: str, **values: Any) -> None:
        async with self.resources.database.unit_of_work() as work:
            await work.session.execute(update(GoalRow).where(GoalRow.event_id == event_id).values(**values))
            self._tell(work, event_id)

    async def clip(self, event_id: str, share_id: str, content: bytes | None = None, **values: Any) -> str:
        content = content if content is not None else film()
        number = next(self._numbers)
        async with self.resources.database.unit_of_work() as work:
            candidate = self._candidate(event_id, number, outcome="stored", settled_at=self.now)
            work.session.add(candidate)
            await work.session.flush()
            row = await self._file(event_id, content) | {
                "share_id": share_id,
                "former_share_ids": [],
                "event_id": event_id,
                "candidate_id": candidate.id,
                "width": 320,
                "height": 180,
                "bitrate": 100_000,
                "duration": SECONDS,
                "timestamp_verified": False,
                "timestamp_status": "no clock",
                "popularity": 1,
                "rank": number,
                "source_url": f"https://example.org/post/{number}",
                "created_at": self.now,
                "updated_at": self.now,
            }
            clip = ClipRow(**row | values)
            work.session.add(clip)
            await work.session.flush()
            candidate.clip_id = clip.id
            self._tell(work, event_id)
        return share_id

    async def change_clip(self, event_id: str, share_id: str, **values: Any) -> None:
        async with self.resources.database.unit_of_work() as work:
            await work.session.execute(update(ClipRow).where(ClipRow.share_id == share_id).values(**values))
            self._tell(work, event_id)

    async def replace(self, event_id: str, share_id: str, content: bytes) -> None:
        """A better copy under the same link."""
        await self.change_clip(event_id, share_id, replacements=1, **await self._file(event_id, content))

    async def candidate(self, event_id: str, **values: Any) -> None:
        async with self.resources.database.unit_of_work() as work:
            work.session.add(self._candidate(event_id, next(self._numbers), **values))
            self._tell(work, event_id)

    async def search(self, event_id: str, attempt: int, source: str = "bluesky", **values: Any) -> None:
        at = self.now + timedelta(minutes=attempt)
        row = {"query": "(Szoboszlai) (LFC OR Liverpool)", "searched_at": at, "found": 0, "failure": ""} | values
        async with self.resources.database.unit_of_work() as work:
            work.session.add(ClipSearchRow(event_id=event_id, attempt=attempt, source=source, **row))
            self._tell(work, event_id)

    async def run(self, event_id: str, register: str, workflow_id: str, **values: Any) -> None:
        async with self.resources.database.unit_of_work() as work:
            row = {"registered_at": self.now, "outcome": ""} | values
            work.session.add(GoalRunRow(event_id=event_id, register=register, workflow_id=workflow_id, **row))

    async def note(self, event_id: str, what: str, before: str, after: str) -> None:
        async with self.resources.database.unit_of_work() as work:
            row = GoalNoteRow(event_id=event_id, run_id="monitor-x", at=self.now, what=what, before=before, after=after)
            work.session.add(row)

    async def source(self, name: str, failure: str = "") -> None:
        async with self.resources.database.unit_of_work() as work:
            worked = None if failure else self.now
            work.session.add(SourceHealthRow(source=name, checked_at=self.now, worked_at=worked, failure=failure))

    async def _file(self, event_id: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        key = f"clips/{event_id.split('_')[0]}/{event_id}/{digest}"
        await self.resources.objects.put(f"{key}.mp4", content)
        await self.resources.objects.put(f"{key}.jpg", poster())
        return {"object_key": f"{key}.mp4", "poster_key": f"{key}.jpg", "md5": digest, "file_size": len(content)}

    def _candidate(self, event_id: str, number: int, **values: Any) -> ClipCandidateRow:
        row = {
            "attempt": 1,
            "source": "bluesky",
            "video_page_url": f"https://example.org/post/{number}",
            "tweet_text": "What a goal",
            "discovered_at": self.now,
        } | values
        return ClipCandidateRow(event_id=event_id, **row)

    def _tell(self, work: Any, event_id: str) -> None:
        work.changed("footy.goal", event_id)
        work.changed("footy.fixture", event_id.split("_")[0])
