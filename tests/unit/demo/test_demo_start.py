"""The demo starts beside a running Pressbox, and says where its mail is."""

import socket
from pathlib import Path

from pressbox.core.config import Settings, WebSettings
from pressbox.entry.demo import choose_web_port, describe_demo


def test_beside_a_running_pressbox_the_demo_takes_another_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        usual = WebSettings.model_construct(set(), **{**dict(WebSettings()), "port": port})
        assert choose_web_port(Settings().model_copy(update={"web": usual})) != port
        assert choose_web_port(Settings(web=WebSettings(port=port))) == port, "what somebody asked for is not changed"


def test_the_greeting_names_the_page_the_mail_and_how_to_stop() -> None:
    said = describe_demo("http://127.0.0.1:8030", 1234, Path("pressbox-demo"))
    for words in ("http://127.0.0.1:8030\n", "http://127.0.0.1:1234/-/received", "Ctrl-C", "pressbox-demo"):
        assert words in said
