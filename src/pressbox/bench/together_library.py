"""Matches, goals, events and notices of `bench together`, made by the database itself from numbers."""

from datetime import timedelta

import psycopg

TEAMS = 600
PLAYERS = 3_000
NOTICES = 5_000

_TEAMS = """
    INSERT INTO footy.team_aliases (team_id, name, country, aliases)
    SELECT n, initcap(md5(n::text)::varchar(6)) || ' United', 'Country ' || n %% 40,
        ARRAY['The ' || md5(n::text)::varchar(5)]
    FROM generate_series(1, %(teams)s) AS n
"""
_DIRECTORY = """
    INSERT INTO footy.directory (kind, id, name, country, words)
    SELECT 'team', team_id, name, country, lower(name) FROM footy.team_aliases
"""
# Half of the matches are over, some are live, the rest follows over the coming months.
_FIXTURES = """
    INSERT INTO footy.fixtures (id, stage, status, kickoff, league_id, league_name, country, home_id, home_name,
        away_id, away_name, elapsed, home_goals, away_goals)
    SELECT n, stage, CASE stage WHEN 'completed' THEN 'FT' WHEN 'active' THEN '2H' ELSE 'NS' END,
        now() + (n - %(matches)s / 2) * interval '30 minutes', n %% 30, 'League ' || n %% 30, 'Country ' || n %% 40,
        home.team_id, home.name, away.team_id, away.name,
        CASE stage WHEN 'active' THEN 63 END, CASE WHEN stage <> 'staging' THEN n %% 4 END,
        CASE WHEN stage <> 'staging' THEN n %% 3 END
    FROM (SELECT n, CASE WHEN n < %(matches)s / 2 - 3 THEN 'completed' WHEN n <= %(matches)s / 2 THEN 'active'
            ELSE 'staging' END AS stage FROM generate_series(1, %(matches)s) AS n) AS numbered
    JOIN footy.team_aliases AS home ON home.team_id = 1 + n %% %(teams)s
    JOIN footy.team_aliases AS away ON away.team_id = 1 + (n + 7) %% %(teams)s
"""
_GOALS = """
    INSERT INTO footy.goals (event_id, fixture_id, id_team, id_player, sequence, team_id, team_name, player_name,
        detail, elapsed, home_score, away_score, first_seen, unseen_at, last_seen, last_activity, confirmed_at,
        completed_at)
    SELECT 'goal-' || f.id || '-' || g, f.id, f.home_id, g, 1, f.home_id, f.home_name,
        initcap(md5((f.id * 3 + g) %% %(players)s || 'p')::varchar(7)), 'Normal Goal', 10 * g, g, 0,
        f.kickoff, f.kickoff, f.kickoff, f.kickoff, f.kickoff, f.kickoff
    FROM footy.fixtures AS f CROSS JOIN generate_series(1, 2) AS g WHERE f.stage = 'completed'
"""
_EVENTS = """
    INSERT INTO soonish.events (slug, organiser_id, name, description, start_date, location, timezone, visibility,
        status)
    SELECT 'event-' || n, %(user_id)s, initcap(md5(n || 'e')::varchar(6)) || ' evening', 'Evening number ' || n,
        now() + (n - %(events)s / 2) * interval '1 hour', 'Hall ' || n %% 50, 'UTC',
        CASE n %% 3 WHEN 0 THEN 'private' ELSE 'public' END, 'active'
    FROM generate_series(1, %(events)s) AS n
"""
_NOTICES = """
    INSERT INTO core.notices (key, application, kind, subject, heading, followed, title, path, occurred_at)
    SELECT 'bench-' || n, 'footy', 'goal', 'footy.fixture.' || n, 'Match ' || n, '{}',
        'Goal by ' || initcap(md5(n || 'p')::varchar(7)), '/footy/matches/' || 1 + n %% %(matches)s, now()
    FROM generate_series(1, %(notices)s) AS n
"""
_INBOX = """
    INSERT INTO core.inbox (user_id, notice_id, because, read_at)
    SELECT %(user_id)s, id, subject, CASE WHEN id %% 10 > 0 THEN now() END FROM core.notices
"""
_FOLLOWS = """
    INSERT INTO core.follows (user_id, subject, name, path)
    SELECT %(user_id)s, 'footy.team.' || team_id, name, '/footy' FROM footy.team_aliases WHERE team_id <= 20
"""
_ALL = (_TEAMS, _DIRECTORY, _FIXTURES, _GOALS, _EVENTS, _NOTICES, _INBOX, _FOLLOWS)


def fill_together(url: str, user_id: int, matches: int, events: int) -> None:
    """All of it belongs to one person, which is the hardest case."""
    values = {
        "user_id": user_id,
        "matches": matches,
        "events": events,
        "teams": TEAMS,
        "players": PLAYERS,
        "notices": NOTICES,
    }
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            for statement in _ALL:
                connection.execute(statement, values)
        connection.execute("VACUUM ANALYZE")


def bring_to_now(url: str) -> None:
    """Move all dates of what was filled on, as if it had been filled now: some matches are live, others follow."""
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            row = connection.execute(
                "SELECT now() - max(kickoff) FROM footy.fixtures WHERE stage = 'active'"
            ).fetchone()
            since = row[0] if row and row[0] is not None else timedelta()
            connection.execute("UPDATE footy.fixtures SET kickoff = kickoff + %s", (since,))
            connection.execute("UPDATE soonish.events SET start_date = start_date + %s", (since,))
        connection.execute("VACUUM ANALYZE footy.fixtures, soonish.events")


def list_typed(url: str, count: int) -> list[str]:
    """What people type: beginnings of names of teams, players and events, and of words in titles of articles."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            """
            SELECT lower(left(word, 3 + (row_number() OVER ())::int %% 4)) FROM (
                (SELECT name AS word FROM footy.team_aliases ORDER BY md5(name) LIMIT %(part)s)
                UNION ALL (SELECT player_name FROM footy.goals ORDER BY md5(event_id) LIMIT %(part)s)
                UNION ALL (SELECT name FROM soonish.events ORDER BY md5(slug) LIMIT %(part)s)
                UNION ALL (SELECT split_part(title, ' ', 1) FROM curator.entries WHERE id <= 5000
                           ORDER BY md5(guid) LIMIT %(part)s)
            ) AS words ORDER BY md5(word) LIMIT %(count)s
            """,
            {"part": -(-count // 4), "count": count},
        ).fetchall()
    return [str(row[0]) for row in found]
