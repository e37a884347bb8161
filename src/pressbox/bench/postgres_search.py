"""The peer of `bench search`: the same articles in PostgreSQL, with full-text search, trigrams and LIKE."""

import time
from collections.abc import Iterable

import psycopg

from pressbox.bench.library import Article

_TABLE = """
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE UNLOGGED TABLE articles (
        id bigint PRIMARY KEY, published_at timestamptz NOT NULL, title text NOT NULL, body text NOT NULL,
        document tsvector GENERATED ALWAYS AS (
            setweight(to_tsvector('simple', title), 'A') || setweight(to_tsvector('simple', body), 'B')
        ) STORED
    )
"""
_INDICES = """
    CREATE INDEX ON articles USING gin (document);
    CREATE INDEX ON articles USING gin (body gin_trgm_ops);
    ANALYZE articles
"""
_RANKED = """
    WITH hits AS (
        SELECT id, ts_rank(document, query) AS score, query FROM articles, {query} AS query WHERE document @@ query
    ), page AS (SELECT * FROM hits ORDER BY score DESC, id LIMIT 20)
    SELECT page.id, (SELECT count(*) FROM hits), ts_headline('simple', body, query) FROM page JOIN articles USING (id)
"""
# The closest equivalent to a misspelt word, and to a word in a sentence without spaces.
_NEAR = """
    WITH hits AS (SELECT id, word_similarity(%(text)s, body) AS score FROM articles WHERE %(text)s <%% body),
    page AS (SELECT * FROM hits ORDER BY score DESC, id LIMIT 20)
    SELECT page.id, (SELECT count(*) FROM hits), left(body, 240) FROM page JOIN articles USING (id)
"""
_INSIDE = """
    WITH hits AS (SELECT id, published_at FROM articles WHERE body LIKE '%%' || %(text)s || '%%'),
    page AS (SELECT * FROM hits ORDER BY published_at DESC LIMIT 20)
    SELECT page.id, (SELECT count(*) FROM hits), left(body, 240) FROM page JOIN articles USING (id)
"""
STATEMENTS = {
    "word": _RANKED.format(query="plainto_tsquery('simple', %(text)s)"),
    "phrase": _RANKED.format(query="phraseto_tsquery('simple', %(text)s)"),
    "prefix": _RANKED.format(query="to_tsquery('simple', %(text)s || ':*')"),
    "compound": _RANKED.format(query="to_tsquery('simple', %(text)s || ':*')"),
    "typo": _NEAR,
    "CJK": _INSIDE,
}


def load_articles(url: str, articles: Iterable[Article]) -> float:
    """Load the articles; returns the seconds until everything can be searched."""
    began = time.perf_counter()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_TABLE)
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY articles (id, published_at, title, body) FROM STDIN") as copy,
        ):
            for article in articles:
                copy.write_row(
                    (article.number, article.published_at, article.title, f"{article.summary}\n{article.text}")
                )
        connection.execute(_INDICES)
    return time.perf_counter() - began


def measure_query(connection: psycopg.Connection, kind: str, text: str) -> float:
    began = time.perf_counter()
    connection.execute(STATEMENTS[kind], {"text": text.strip('"')}).fetchall()
    return time.perf_counter() - began
