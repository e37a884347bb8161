"""What `pressbox up` says once everything answers."""

from urllib.parse import urlsplit

from pressbox.embedded.supervisor import Running


def announcement(running: Running, *, product: str, setup_link: str | None) -> str:
    """One calm block: what runs, where, and how to stop it. No secret but the set-up link, which is its purpose."""
    endpoints = running.endpoints
    database = urlsplit(endpoints.database_url)
    lines = [
        ("Open", endpoints.web_url or ""),
        *(
            [("Set up", f"{setup_link}\n{'':14}Make the first account there; the link works once, for 24 hours.")]
            if setup_link
            else []
        ),
        ("Database", f"{_server('PostgreSQL', running, 'postgres')} on {database.hostname}:{database.port or 5432}"),
        ("Temporal", f"{_server('Temporal', running, 'temporal')} on {endpoints.temporal_address}"),
        *(
            [("Temporal UI", _absolute(endpoints.temporal_ui_url, endpoints.web_url))]
            if endpoints.temporal_ui_url
            else []
        ),
        ("Worker", f"health at {endpoints.worker_health_url}/health"),
        ("Home", str(running.home.path)),
        ("Logs", str(running.home.logs)),
    ]
    body = "\n".join(f"  {name:<12}{text}" for name, text in lines)
    return f"{product} is running (ready in {running.seconds:.1f} s).\n\n{body}\n\nStop it with Ctrl-C.\n"


def _absolute(address: str, web_url: str | None) -> str:
    return f"{web_url}{address} (for administrators)" if address.startswith("/") else address


def _server(title: str, running: Running, part: str) -> str:
    version = running.versions.get(part)
    return f"{title} {version}" if version else f"{title} (external)"
