"""The numbers about what people wait for: read by one statement, kept for some seconds, honest when unreadable."""

from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import insert, text

from pressbox.core.db.database import Database
from pressbox.core.measures import CORE_MEASURES, READABLE, Measure, Measures, declared_measures
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.entry.manifests import APPLICATIONS
from tests.statements import count_statements

EVERYTHING = declared_measures(APPLICATIONS)
# Rows as applications write them, an hour old where somebody waits.
ROWS = (
    "INSERT INTO soonish.outbox (event_id, signal, payload, created_at, told_at) VALUES "
    "(1, 'x', '{}', now() - interval '1 hour', NULL), (1, 'x', '{}', now() - interval '1 day', now())",
    "INSERT INTO curator.feeds (id, url) VALUES (1, 'https://a.example/f'), (2, 'https://b.example/f'), "
    "(3, 'https://c.example/f')",
    "UPDATE curator.feeds SET paused_at = now() WHERE id = 3",
    "INSERT INTO curator.feed_state (feed_id, next_crawl_at) VALUES (1, now() - interval '1 hour'), "
    "(2, now() + interval '1 hour'), (3, now() - interval '1 day')",
    "INSERT INTO footy.fixtures (id, stage, status, kickoff, league_id, league_name, home_id, home_name, away_id, "
    "away_name) VALUES (7, 'active', '2H', now() - interval '2 hours', 1, 'L', 1, 'A', 2, 'B')",
    "INSERT INTO footy.goals (event_id, fixture_id, id_team, id_player, sequence, team_id, team_name, detail, elapsed, "
    "home_score, away_score, first_seen, unseen_at, last_seen, last_activity) "
    "SELECT 'g' || n, 7, 1, n, 1, 1, 'A', 'Normal Goal', n, n, 0, now() - interval '1 hour', now(), now(), now() "
    "FROM generate_series(1, 3) AS n",
    "INSERT INTO footy.clips (share_id, event_id, candidate_id, object_key, poster_key, md5, width, height, bitrate, "
    "file_size, duration, timestamp_verified, timestamp_status, source_url, created_at, updated_at) "
    "SELECT 's' || n, 'g' || ((n % 2) + 1), n, '', '', '', 1, 1, 1, 1, 1, true, 'verified', '', "
    "now() - interval '1 hour' + n * interval '1 minute', now() FROM generate_series(1, 4) AS n",
)


async def read(measures: Measures) -> dict[tuple[str, str], float]:
    families = text_string_to_metric_families((await measures.exposition()).decode())
    return {
        (sample.name, "".join(sample.labels.values())): sample.value for family in families for sample in family.samples
    }


async def test_they_say_what_people_wait_for(database: Database) -> None:
    measures = Measures(database, EVERYTHING, kept_seconds=0)
    idle = await read(measures)
    assert {value for (name, _), value in idle.items() if name != READABLE} == {0.0}
    async with database.unit_of_work() as work:
        await work.session.execute(text("SET LOCAL session_replication_role = replica"))
        for statement in ROWS:
            await work.session.execute(text(statement))
        await work.session.execute(
            text(
                "INSERT INTO soonish.deliveries (notification_id, event_id, subscription_id, cause, version, "
                "channel_key, state, next_try_at, created_at) VALUES "
                "(1, 1, 1, 'a', '1', 'c', 'pending', NULL, now() - interval '1 hour'), "
                "(1, 1, 2, 'a', '1', 'c', 'pending', now() + interval '1 hour', now() - interval '2 hours'), "
                "(1, 1, 3, 'a', '1', 'c', 'sent', NULL, now() - interval '3 hours')"
            )
        )
        await work.session.execute(
            insert(PaidRequestRow),
            [
                {
                    **{"content_hash": "", "prompt_version": "", "model": "m", "outcome": "answered"},
                    **{"feature": feature, "tokens_in": 1, "tokens_out": 1, "weight": weight, "at": at},
                }
                for feature, weight, at in (
                    ("distil", 5, datetime.now(UTC)),
                    ("distil", 7, datetime.now(UTC)),
                    ("ask", 100, datetime.now(UTC) - timedelta(days=2)),
                )
            ],
        )
    with count_statements(database) as statements:
        busy = await read(measures)
    assert len(statements) == 1
    hour = pytest.approx(3600, abs=60)
    assert busy["pressbox_delivery_lag_seconds", ""] == hour
    assert busy["pressbox_deliveries_waiting", ""] == 2
    assert busy["pressbox_outbox_oldest_seconds", ""] == hour
    assert busy["pressbox_feed_lag_seconds", ""] == hour
    assert busy["pressbox_feeds_due", ""] == 1
    # The first clips came after two minutes and after one.
    assert busy["pressbox_goal_to_clip_seconds", ""] == 90
    assert busy["pressbox_goals_without_clip", ""] == 1
    assert busy["pressbox_tokens_today", "distil"] == 12
    assert ("pressbox_tokens_today", "ask") not in busy


async def test_many_scrapers_cost_what_one_does(database: Database) -> None:
    measures = Measures(database, EVERYTHING, kept_seconds=3600)
    with count_statements(database) as statements:
        assert await measures.exposition() == await measures.exposition()
    assert len(statements) == 1


async def test_what_cannot_be_read_is_said_and_never_zero(database: Database) -> None:
    broken = Measure("pressbox_broken", "Nothing.", "SELECT '', count(*) FROM core.nowhere")
    found = await read(Measures(database, (*CORE_MEASURES, broken)))
    assert found == {(READABLE, ""): 0.0}


def test_names_are_their_own() -> None:
    names = [measure.name for measure in EVERYTHING]
    assert len(names) == len(set(names))
    assert all(name.startswith("pressbox_") for name in names)
