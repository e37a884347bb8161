"""Entries of one feed that lead to sections of one page are stories of their own."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

# Several entries of one feed at one address are not copies of one article: the address names none.
_SEPARATE = """
    UPDATE curator.entries AS entry SET story_id = NULL
    FROM (
        SELECT feed_id, story_id FROM curator.entries WHERE story_id IS NOT NULL
        GROUP BY feed_id, story_id HAVING count(DISTINCT title) > 1
    ) AS shared
    WHERE entry.feed_id = shared.feed_id AND entry.story_id = shared.story_id
"""
_ADD_SECTIONS = """
    UPDATE curator.entries SET canonical_url = left(canonical_url || '#' || split_part(url, '#', 2), 2000)
    WHERE story_id IS NULL AND canonical_url <> '' AND strpos(canonical_url, '#') = 0 AND split_part(url, '#', 2) <> ''
"""
_FORGET_STORIES = """
    DELETE FROM curator.stories WHERE NOT EXISTS (SELECT FROM curator.entries WHERE story_id = stories.id)
"""


def upgrade() -> None:
    for statement in (_SEPARATE, _ADD_SECTIONS, _FORGET_STORIES):
        op.execute(statement)


def downgrade() -> None:
    """The stories join again when their entries are crawled anew."""
