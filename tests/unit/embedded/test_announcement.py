"""The block that `pressbox up` prints: where everything is, and no secret."""

from pathlib import Path

from pressbox.embedded.announcement import announcement
from pressbox.embedded.home import Endpoints, Home
from pressbox.embedded.supervisor import Running

ENDPOINTS = Endpoints(
    database_url="postgresql://pressbox:planted-secret@127.0.0.1:5544/pressbox",
    temporal_address="127.0.0.1:7233",
    temporal_ui_url="http://127.0.0.1:8233",
    web_url="http://127.0.0.1:8030",
    worker_health_url="http://127.0.0.1:8080",
)


def block(setup_link: str | None) -> str:
    running = Running(
        endpoints=ENDPOINTS, home=Home(Path("/srv/press")), pids={}, versions={"postgres": "18.6"}, seconds=2.34
    )
    return announcement(running, product="Pressbox 1.0", setup_link=setup_link)


def test_it_says_what_runs_where_and_how_to_stop() -> None:
    said = block(None)
    for fact in ("Pressbox 1.0", "http://127.0.0.1:8030", "127.0.0.1:5544", "http://127.0.0.1:8233", "/srv/press"):
        assert fact in said
    assert "PostgreSQL 18.6" in said
    assert "Temporal (external)" in said
    assert "Ctrl-C" in said
    assert "planted-secret" not in said


def test_the_set_up_link_is_there_only_while_nobody_can_sign_in() -> None:
    assert "Set up" not in block(None)
    assert "http://127.0.0.1:8030/set-up?token=once" in block("http://127.0.0.1:8030/set-up?token=once")
