"""What the web process counts for Prometheus."""

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("pressbox_http_requests_total", "Requests answered.", ("method", "route", "status"))
REQUEST_SECONDS = Histogram(
    "pressbox_http_request_seconds",
    "Time to the end of an answer, streams left out.",
    ("route",),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
STREAM_CLIENTS = Gauge("pressbox_stream_clients", "Browsers that follow live updates.")
CONNECTIONS_ENDED = Counter(
    "pressbox_connections_ended_total", "Connections ended before their time: slow, too large, no room.", ("reason",)
)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def observe(method: str, route: str, status: int, seconds: float, *, streamed: bool) -> None:
    # A client can invent methods; each would be a series of its own.
    REQUESTS.labels(method if method in _METHODS else "other", route, str(status)).inc()
    if not streamed:
        REQUEST_SECONDS.labels(route).observe(seconds)
