"""A server of one's own where pgvector is not there yet says what to do, and goes on where it stopped."""

import secrets
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import make_url

from pressbox.core.db.migrate import upgrade
from pressbox.core.db.versions import head
from pressbox.core.errors import ConfigurationError
from tests.conftest import Parts, execute


@pytest.fixture
def plain_url(parts: Parts) -> Iterator[str]:
    """A database of a role that is nobody special, as hosted servers have it."""
    name = f"plain_{secrets.token_hex(4)}"
    execute(parts.postgres_url, f"CREATE ROLE {name} LOGIN PASSWORD '{name}'")
    execute(parts.postgres_url, f"CREATE DATABASE {name} OWNER {name}")
    url = make_url(parts.postgres_url).set(username=name, password=name, database=name)
    yield url.render_as_string(hide_password=False)
    execute(parts.postgres_url, f"DROP DATABASE {name} WITH (FORCE)")
    execute(parts.postgres_url, f"DROP ROLE {name}")


def test_a_role_that_may_not_add_pgvector_is_told_who_may(parts: Parts, plain_url: str) -> None:
    with pytest.raises(ConfigurationError, match="CREATE EXTENSION vector"):
        upgrade(plain_url)
    execute(parts.database_url(str(make_url(plain_url).database)), "CREATE EXTENSION vector")
    upgrade(plain_url)
    with psycopg.connect(plain_url) as connection:
        (version,) = connection.execute("SELECT version_num FROM core.alembic_version").fetchone() or ("",)
    assert version == head()
