"""What only this machine knows: home, binaries, ports, instance key, the logs' last error."""

import json
import os
import shutil
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pressbox.core.accounts import trusted_header
from pressbox.core.accounts.sign_in_ways import find_oidc_problem, is_oidc_on, relying_party
from pressbox.core.config import Settings
from pressbox.core.environment import explain_unknown
from pressbox.core.errors import PressboxError
from pressbox.core.health import HealthState, PartHealth, home_space
from pressbox.core.logs import redact
from pressbox.embedded import ports
from pressbox.embedded.home import Home
from pressbox.embedded.instance_lock import is_running, read_holder
from pressbox.embedded.postgres import EmbeddedPostgres
from pressbox.embedded.temporal_server import NOT_PRIVATE, EmbeddedTemporal

RECENT = timedelta(hours=24)
_TAIL_BYTES = 200_000
_MANY_PERMISSIONS = 0o077


def diagnose(settings: Settings, unknown: tuple[str, ...]) -> tuple[PartHealth, ...]:
    """Every check answers, whatever state the machine is in. `unknown` are variables that mean nothing."""
    home = Home(settings.home)
    checks: tuple[tuple[str, Callable[[], PartHealth]], ...] = (
        ("settings", lambda: _settings(unknown)),
        ("sign-in", lambda: _sign_in(settings)),
        ("home", lambda: _home(home)),
        ("secret key", lambda: _secret_key(settings, home)),
        ("postgres binaries", lambda: _version("postgres binaries", lambda: EmbeddedPostgres(home).version)),
        ("temporal binary", lambda: _version("temporal binary", lambda: EmbeddedTemporal(home).version)),
        ("temporal network", lambda: _temporal_network(settings, home)),
        ("instance", lambda: _instance(settings, home)),
        ("logs", lambda: _logs(home)),
    )
    return tuple(_run_check(name, check) for name, check in checks)


def _run_check(name: str, check: Callable[[], PartHealth]) -> PartHealth:
    try:
        return check()
    except PressboxError as error:
        return PartHealth(name, HealthState.FAILED, redact(error.message))
    except OSError as error:
        return PartHealth(
            name, HealthState.FAILED, str(error), "Look at the permissions, or run it as the home's owner."
        )


def _settings(unknown: tuple[str, ...]) -> PartHealth:
    if unknown:
        fix = "Correct or unset what is named above."
        return PartHealth("settings", HealthState.WARNING, " ".join(map(explain_unknown, unknown)), fix)
    return PartHealth("settings", HealthState.OK, "All PRESSBOX_ variables are known.")


def _sign_in(settings: Settings) -> PartHealth:
    """A provider or a trusted header that is half set does nothing, silently; here it says so."""
    public_url = settings.web.public_url
    found = (find_oidc_problem(settings.oidc, public_url), trusted_header.problem_of(settings))
    problems = [problem for problem in found if problem]
    if problems:
        fix = "Set or unset it; docs/operations.md, “Signing in”, has examples."
        return PartHealth("sign-in", HealthState.WARNING, " ".join(problems), fix)
    ways = ["password"]
    ways += ["passkeys"] if relying_party(public_url) else []
    ways += ["OpenID provider"] if is_oidc_on(settings.oidc, public_url) else []
    ways += ["header of a trusted proxy"] if settings.trusted_header.enabled else []
    return PartHealth("sign-in", HealthState.OK, f"By {', '.join(ways)}.")


def _home(home: Home) -> PartHealth:
    if not home.exists:
        detail = f"{home.path} does not exist yet."
        return PartHealth("home", HealthState.WARNING, detail, "`pressbox up` makes it.")
    mode = stat.S_IMODE(home.path.stat().st_mode)
    allowed = 0o711 if os.geteuid() == 0 else 0o700
    if mode & ~allowed:
        detail = f"{home.path} is open to others (mode {mode:04o})."
        return PartHealth("home", HealthState.WARNING, detail, f"chmod {allowed:o} {home.path}")
    if not os.access(home.path, os.W_OK):
        detail = f"{home.path} cannot be written by this user."
        return PartHealth(
            "home", HealthState.FAILED, detail, "Run Pressbox as the folder's owner, or change PRESSBOX_HOME."
        )
    space = home_space(shutil.disk_usage(home.path).free)
    return PartHealth("home", space.state, f"{home.path}: {space.detail}", space.fix)


def _secret_key(settings: Settings, home: Home) -> PartHealth:
    if settings.secret_key is not None:
        return PartHealth("secret key", HealthState.OK, "Given by PRESSBOX_SECRET_KEY.")
    file = home.secret_key_file
    if not file.exists():
        state = HealthState.FAILED if home.load_endpoints() else HealthState.OK
        fix = "Restore a backup that contains it, or let `pressbox up` make a new one."
        return PartHealth(
            "secret key", state, "None yet; the first start makes one.", fix if state != HealthState.OK else ""
        )
    if file.stat().st_mode & _MANY_PERMISSIONS:
        return PartHealth("secret key", HealthState.FAILED, "Others can read it.", f"chmod 600 {file}")
    return PartHealth("secret key", HealthState.OK, "Kept in the home, readable by its owner only.")


def _version(name: str, ask: Callable[[], str]) -> PartHealth:
    version = ask()
    return PartHealth(name, HealthState.OK, "Found and runnable.", version=version)


def _temporal_network(settings: Settings, home: Home) -> PartHealth:
    temporal = EmbeddedTemporal(home)
    if settings.temporal.address or temporal.find_running() is None:
        return PartHealth("temporal network", HealthState.OK, "No embedded Temporal runs.")
    if temporal.is_private:
        return PartHealth("temporal network", HealthState.OK, "Nobody but this user's own processes reaches Temporal.")
    return PartHealth(
        "temporal network",
        HealthState.WARNING,
        NOT_PRIVATE,
        "Allow user namespaces on Linux (on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0), or set "
        "PRESSBOX_TEMPORAL_ADDRESS to a server with TLS, or let nobody else use this machine.",
    )


def _instance(settings: Settings, home: Home) -> PartHealth:
    if is_running(home):
        holder = read_holder(home)
        detail = f"`pressbox up` runs with pid {holder.pid} at {holder.web_url}." if holder else "`pressbox up` runs."
        return PartHealth("instance", HealthState.OK, detail)
    web = settings.web
    if not ports.is_free(web.port, web.host):
        by = ports.holder(web.port)
        detail = f"Nothing runs on this home, and its port {web.port} is taken{f' by {by}' if by else ''}."
        return PartHealth(
            "instance", HealthState.WARNING, detail, f"Stop that, or set PRESSBOX_WEB_PORT={ports.free_port()}."
        )
    return PartHealth("instance", HealthState.WARNING, "Nothing runs on this home.", "Start it with `pressbox up`.")


def _logs(home: Home) -> PartHealth:
    files = [home.logs / f"{name}.log{older}" for name in ("worker", "web") for older in ("", ".1")]
    found = [last for file in files if (last := last_error(file))]
    if not found:
        return PartHealth(
            "logs", HealthState.OK, f"No error of worker or web within {RECENT.total_seconds() / 3600:.0f} hours."
        )
    when, message = max(found)
    detail = f"Last error at {when:%Y-%m-%d %H:%M:%S} UTC: {redact(message)}"
    return PartHealth("logs", HealthState.WARNING, detail, f"The whole story is in {home.logs}.")


def last_error(file: Path, now: datetime | None = None) -> tuple[datetime, str] | None:
    """The newest recent line of level error in one of our logs, as time and message."""
    if not file.exists():
        return None
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _TAIL_BYTES))
        lines = stream.read().decode(errors="replace").splitlines()
    oldest = (now or datetime.now(UTC)) - RECENT
    for line in reversed(lines):
        error = _parse_error(line)
        if error:
            return error if error[0] >= oldest else None
    return None


def _parse_error(line: str) -> tuple[datetime, str] | None:
    try:
        entry = json.loads(line)
        if entry["level"] not in ("error", "critical"):
            return None
        return datetime.fromisoformat(entry["ts"]).astimezone(UTC), f"{entry['module']}: {entry['msg']}"
    except (ValueError, KeyError, TypeError):
        # Other programs' lines, and the first one, which was cut.
        return None
