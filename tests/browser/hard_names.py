"""The longest and strangest names that people, publishers and clubs give, put in the place of every name there is."""

from collections.abc import Sequence

from sqlalchemy import ARRAY, Text, bindparam, text

from pressbox.core.db.database import Database

MOST = 120
# Real ones: a feed, a club in full, and what Arabic, Japanese and Korean papers call theirs.
NAMES = (
    "Al Jazeera – Breaking News, World News and Video from Al Jazeera",
    "Nooit opgeven altijd doorzetten, Aangenaam door vermaak en nuttig door ontspanning, Combinatie Breda",
    "الجزيرة نت: آخر أخبار اليوم حول العالم، أخبار فلسطين والشرق الأوسط، وآخر التحليلات والتحقيقات والبرامج",
    "読売新聞オンライン：社会・政治・経済・国際・スポーツ・エンタメ・科学・地域の最新ニュースをお届けします",
    "연합뉴스:대한민국의대표뉴스통신사가전하는정치경제사회문화스포츠국제북한지역최신기사",
)
# As long as a name may be, and nowhere to break.
UNBROKEN = ("Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 3)[: MOST - 4]
# What people see as a name or a title, by table. What only programs read stays as it is.
NAMED = {
    "core.users": ("name",),
    "core.tokens": ("name",),
    "core.passkeys": ("name",),
    "core.notices": ("heading", "title", "detail"),
    "core.follows": ("name",),
    "core.workflow_progress": ("title", "message"),
    "curator.app_passwords": ("name",),
    "curator.conversations": ("title",),
    "curator.answers": ("question",),
    "curator.enrichments": ("title",),
    "curator.entry_links": ("title",),
    "curator.graph_nodes": ("name",),
    "curator.feeds": ("title", "description"),
    "curator.categories": ("name",),
    "curator.subscriptions": ("title",),
    "curator.entries": ("title", "author", "summary"),
    "curator.labels": ("name",),
    "curator.research_runs": ("question",),
    "curator.research_steps": ("title",),
    "curator.entry_translations": ("title",),
    "soonish.channels": ("name",),
    "soonish.events": ("name", "description", "location"),
    "soonish.notifications": ("title", "body"),
    "footy.fixtures": ("league_name", "country", "round", "venue", "home_name", "away_name"),
    "footy.goals": ("team_name", "player_name", "assist_name"),
    "footy.goal_notes": ("before", "after"),
    "footy.clip_candidates": ("reason",),
    "footy.team_aliases": ("name", "country"),
    "footy.follows": ("name",),
    "footy.directory": ("name", "country"),
    "footy.source_health": ("failure",),
}


async def rename_everything(database: Database, names: Sequence[str]) -> None:
    """Give every row some of these names, another one to the next row, with a number so that they stay different."""
    async with database.unit_of_work() as work:
        for table, columns in NAMED.items():
            # `place` is in the order of the rows, whatever the key of the table.
            changes = ", ".join(
                f"{column} = (:names)[1 + (rows.place + {shift}) % :many] || rows.place"
                for shift, column in enumerate(columns)
            )
            rows = f"(SELECT ctid AS own, row_number() OVER ()::int AS place FROM {table}) AS rows"
            statement = text(f"UPDATE {table} SET {changes} FROM {rows} WHERE {table}.ctid = rows.own")
            bound = statement.bindparams(bindparam("names", list(names), ARRAY(Text)), bindparam("many", len(names)))
            await work.session.execute(bound)
