"""Dump and load a database with the wheel's own pg_dump and pg_restore."""

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

import psycopg

from pressbox.core.environment import child_environment
from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.logs import redact
from pressbox.core.processes.parents import end_with_parent
from pressbox.embedded.postgres import installed_binaries


def dump_database(url: str, file: Path) -> None:
    """A consistent copy of the whole database; writers are not disturbed."""
    # The archive around it compresses; ownership belongs to the place, not to the data.
    _run("pg_dump", url, ["--format=custom", "--compress=0", "--no-owner", "--no-privileges", f"--file={file}"])


def load_database(url: str, file: Path, *, replace: bool) -> None:
    """All of it or nothing: one transaction. With `replace`, what the dump names is dropped first."""
    cleaning = ["--clean", "--if-exists"] if replace else []
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", *cleaning]
    _run("pg_restore", url, [*options, str(file)])


def database_revision(url: str) -> str:
    """The migration that the database has; empty when there is none."""
    try:
        with psycopg.connect(plain_url(url), connect_timeout=10) as connection:
            if connection.execute("SELECT to_regclass('core.alembic_version')").fetchone() == (None,):
                return ""
            row = connection.execute("SELECT version_num FROM core.alembic_version").fetchone()
            return str(row[0]) if row else ""
    except psycopg.OperationalError as error:
        raise TransientError("The database does not answer.") from error


def plain_url(url: str) -> str:
    """As the database's own programs and driver want it."""
    return url.replace("postgresql+psycopg://", "postgresql://", 1)


def _run(program: str, url: str, arguments: Sequence[str]) -> None:
    parts = urlsplit(plain_url(url))
    # Arguments are visible to everybody on the machine; the environment is not.
    without_password = urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", "@", 1)))
    password = {"PGPASSWORD": unquote(parts.password)} if parts.password else {}
    done = subprocess.run(
        [str(installed_binaries() / "bin" / program), f"--dbname={without_password}", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=child_environment(**password),
        check=False,
        preexec_fn=end_with_parent(signal.SIGKILL),
    )
    if done.returncode != 0:
        raise PermanentError(f"{program} failed: {redact(done.stderr.strip()[-1200:])}")
