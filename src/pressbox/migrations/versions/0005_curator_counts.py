"""Triggers that keep the unread counts of the curator, and note which documents the search index must forget."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_FUNCTIONS = (
    "count_new_subscription",
    "count_new_entries",
    "count_removed_entry",
    "count_new_states",
    "count_changed_states",
    "count_removed_states",
    "note_removed_entries",
)


def upgrade() -> None:
    for statement in (*_COUNTING_ENTRIES, *_COUNTING_STATES):
        op.execute(statement)


def downgrade() -> None:
    for function in _FUNCTIONS:
        op.execute(f"DROP FUNCTION curator.{function}() CASCADE")
    op.execute("DROP FUNCTION curator.add_unread(bigint[], bigint[], integer[])")


# Whoever writes, the counts are right. Subscriptions are locked in the order of their keys: two writers of the same
# ones wait for each other instead of standing in each other's way.
_COUNTING_ENTRIES = (
    """
    CREATE FUNCTION curator.add_unread(users bigint[], feeds bigint[], numbers integer[]) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM 1 FROM curator.subscriptions s
        JOIN unnest(users, feeds, numbers) AS c (user_id, feed_id, number)
            ON s.feed_id = c.feed_id AND s.user_id = coalesce(c.user_id, s.user_id)
        ORDER BY s.id FOR NO KEY UPDATE OF s;
        UPDATE curator.subscriptions s SET unread = s.unread + c.number
        FROM unnest(users, feeds, numbers) AS c (user_id, feed_id, number)
        WHERE s.feed_id = c.feed_id AND s.user_id = coalesce(c.user_id, s.user_id) AND c.number <> 0;
    END $$
    """,
    # A crawl holds its feed FOR UPDATE: here one waits until its entries can be counted.
    """
    CREATE FUNCTION curator.count_new_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM 1 FROM curator.feeds WHERE id = NEW.feed_id FOR KEY SHARE;
        UPDATE curator.subscriptions SET unread = (
            SELECT count(*) FROM curator.entries e WHERE e.feed_id = NEW.feed_id AND NOT EXISTS (
                SELECT 1 FROM curator.entry_states t
                WHERE t.entry_id = e.id AND t.user_id = NEW.user_id AND t.read_at IS NOT NULL
            )
        ) WHERE id = NEW.id;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER count_new_subscription AFTER INSERT OR UPDATE OF feed_id ON curator.subscriptions
    FOR EACH ROW EXECUTE FUNCTION curator.count_new_subscription()
    """,
    """
    CREATE FUNCTION curator.count_new_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM curator.add_unread(array_agg(NULL::bigint), array_agg(c.feed_id), array_agg(c.number))
        FROM (SELECT feed_id, count(*)::integer AS number FROM added GROUP BY feed_id) AS c
        HAVING count(*) > 0;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER count_new_entries AFTER INSERT ON curator.entries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION curator.count_new_entries()
    """,
    # Before, and row by row: afterwards the states that tell who had read it are gone with the entry.
    """
    CREATE FUNCTION curator.count_removed_entry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE curator.subscriptions s SET unread = s.unread - 1 WHERE s.feed_id = OLD.feed_id AND NOT EXISTS (
            SELECT 1 FROM curator.entry_states t
            WHERE t.entry_id = OLD.id AND t.user_id = s.user_id AND t.read_at IS NOT NULL
        );
        RETURN OLD;
    END $$
    """,
    """
    CREATE TRIGGER count_removed_entry BEFORE DELETE ON curator.entries
    FOR EACH ROW EXECUTE FUNCTION curator.count_removed_entry()
    """,
    """
    CREATE FUNCTION curator.note_removed_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO curator.removed_entries (entry_id) SELECT id FROM gone ON CONFLICT DO NOTHING;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER note_removed_entries AFTER DELETE ON curator.entries
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION curator.note_removed_entries()
    """,
)


def _count_states(name: str, event: str, tables: str, changes: str) -> tuple[str, str]:
    return (
        f"""
        CREATE FUNCTION curator.{name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM curator.add_unread(array_agg(c.user_id), array_agg(c.feed_id), array_agg(c.number))
            FROM (
                SELECT d.user_id, e.feed_id, sum(d.number)::integer AS number
                FROM ({changes}) AS d (user_id, entry_id, number)
                JOIN curator.entries e ON e.id = d.entry_id
                GROUP BY d.user_id, e.feed_id
            ) AS c
            HAVING count(*) > 0;
            RETURN NULL;
        END $$
        """,  # noqa: S608 - our own words
        f"""
        CREATE TRIGGER {name} AFTER {event} ON curator.entry_states
        REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION curator.{name}()
        """,
    )


_COUNTING_STATES = (
    *_count_states(
        "count_new_states",
        "INSERT",
        "NEW TABLE AS added",
        "SELECT user_id, entry_id, -1 FROM added WHERE read_at IS NOT NULL",
    ),
    *_count_states(
        "count_changed_states",
        "UPDATE",
        "OLD TABLE AS gone NEW TABLE AS added",
        "SELECT n.user_id, n.entry_id, CASE WHEN n.read_at IS NULL THEN 1 ELSE -1 END FROM added n JOIN gone o "
        "ON n.user_id = o.user_id AND n.entry_id = o.entry_id AND (n.read_at IS NULL) <> (o.read_at IS NULL)",
    ),
    *_count_states(
        "count_removed_states",
        "DELETE",
        "OLD TABLE AS gone",
        "SELECT user_id, entry_id, 1 FROM gone WHERE read_at IS NOT NULL",
    ),
)
