"""The simulated outside world of the demo: services on loopback, in the process of the demo."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from pressbox.demo.simulators.deepl import KEY as DEEPL_KEY
from pressbox.demo.simulators.deepl import DeepLSimulator
from pressbox.demo.simulators.fixtures_api import DEMO_KEY, FixturesApi
from pressbox.demo.simulators.github import GitHubService
from pressbox.demo.simulators.langfuse import PUBLIC_KEY, SECRET_KEY, LangfuseService
from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.demo.simulators.microsoft_translator import KEY as MICROSOFT_KEY
from pressbox.demo.simulators.microsoft_translator import REGION, MicrosoftSimulator
from pressbox.demo.simulators.model import MODEL, ModelService
from pressbox.demo.simulators.news_site import NewsSite
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.demo.simulators.push_service import PushService
from pressbox.demo.simulators.social_site import SocialSite
from pressbox.demo.simulators.task_script import answer_task
from pressbox.embedded.ports import hold_ports

# How long edits are gathered into one message; short, so that somebody can watch.
MERGE_SECONDS = 6.0
# A minute of a match takes a second.
MATCH_SPEED = 60.0
WORLD_CUP = 1
# The shortest and longest time between two crawls of a feed; the schedule runs as often as settings allow.
SOONEST_CRAWL_SECONDS, LATEST_CRAWL_SECONDS = 3.0, 8.0
INGEST_MINUTES = 0.1
HOST_DELAY_SECONDS = 0.2
GRAPH_MINUTES = 0.5
# A simulated model costs nothing; with these prices the costs page has something to show.
PRICE_IN, PRICE_OUT, PRICE_CHARACTERS = 0.5, 1.5, 20.0
# Between two pieces of an answer, so that one can watch it being written.
WRITING_SECONDS = 0.04
# Articles that are published during the demo.
HELD_ARTICLES = ("night-ferry-timetable", "orgelpfeifen-inventur", "stationery-shop-ink")


@dataclass(frozen=True)
class WorldPorts:
    """Chosen before anything starts, because the settings of the instance need them; held until the world opens."""

    notifications: int
    mail: int
    mailbox: int
    fixtures: int
    social: int
    news: int
    model: int
    deepl: int
    microsoft: int
    github: int
    langfuse: int
    push: int
    held: tuple[socket.socket, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def choose(cls) -> "WorldPorts":
        held = hold_ports(12)
        return replace(cls(*(one.getsockname()[1] for one in held)), held=held)

    def let_go(self) -> None:
        for one in self.held:
            one.close()

    def environment(self, speed: float = 1.0) -> dict[str, str]:
        """Settings that connect an instance to this world and to nothing else."""
        return {
            "PRESSBOX_SOONISH_MERGE_WINDOW_SECONDS": f"{MERGE_SECONDS / speed:g}",
            "PRESSBOX_HTTP_ALLOW": ",".join(
                f"127.0.0.1:{port}"
                for port in (self.notifications, self.fixtures, self.social, self.news, self.github, self.push)
            ),
            "PRESSBOX_SOONISH_SMTP_HOST": "127.0.0.1",
            "PRESSBOX_SOONISH_SMTP_PORT": str(self.mail),
            "PRESSBOX_SOONISH_SMTP_SECURITY": "none",
            "PRESSBOX_SOONISH_SMTP_USER": "",
            "PRESSBOX_SOONISH_SMTP_FROM": "Pressbox demo <demo@example.org>",
            "PRESSBOX_SOONISH_APPRISE_API_URL": "",
            **self._footy_settings(speed),
            **self._curator_settings(speed),
            **self._provider_settings(),
        }

    def _curator_settings(self, speed: float) -> dict[str, str]:
        return {
            "PRESSBOX_CURATOR_INGEST_MINUTES": f"{INGEST_MINUTES:g}",
            "PRESSBOX_CURATOR_SHORTEST_INTERVAL_MINUTES": f"{SOONEST_CRAWL_SECONDS / speed / 60:g}",
            "PRESSBOX_CURATOR_LONGEST_INTERVAL_HOURS": f"{LATEST_CRAWL_SECONDS / speed / 3600:g}",
            "PRESSBOX_CURATOR_HOST_DELAY_SECONDS": f"{HOST_DELAY_SECONDS / speed:g}",
            "PRESSBOX_CURATOR_DISTILLER": "extractive",
            "PRESSBOX_CURATOR_EMBEDDER": "bundled",
            "PRESSBOX_CURATOR_TARGET_LANGUAGE": "",
            "PRESSBOX_CURATOR_FULL_TEXT": "1",
            "PRESSBOX_CURATOR_AUTO_DISTILL": "1",
            "PRESSBOX_CURATOR_SPEED": "1",
        }

    def _provider_settings(self) -> dict[str, str]:
        """Simulated providers. Summaries and context are made offline, which is better than a simulation."""
        return {
            "PRESSBOX_CURATOR_MODEL_URL": f"http://127.0.0.1:{self.model}/v1",
            "PRESSBOX_CURATOR_MODEL_NAME": MODEL,
            "PRESSBOX_CURATOR_MODEL_KEY": "",
            "PRESSBOX_CURATOR_PRICE_PER_MILLION_IN": f"{PRICE_IN:g}",
            "PRESSBOX_CURATOR_PRICE_PER_MILLION_OUT": f"{PRICE_OUT:g}",
            "PRESSBOX_CURATOR_PRICE_PER_MILLION_CHARACTERS": f"{PRICE_CHARACTERS:g}",
            "TRANSLATION_PROVIDER": "deepl",
            "PRESSBOX_CURATOR_DEEPL_URL": f"http://127.0.0.1:{self.deepl}",
            "DEEPL_API_KEY": DEEPL_KEY,
            "PRESSBOX_CURATOR_MICROSOFT_URL": f"http://127.0.0.1:{self.microsoft}",
            "PRESSBOX_CURATOR_MICROSOFT_KEY": MICROSOFT_KEY,
            "PRESSBOX_CURATOR_MICROSOFT_REGION": REGION,
            "PRESSBOX_CURATOR_CONTEXT": "offline",
            "PRESSBOX_CURATOR_GITHUB_URL": f"http://127.0.0.1:{self.github}",
            "PRESSBOX_CURATOR_GITHUB_KEY": "",
            "PRESSBOX_CURATOR_GRAPH": "postgres",
            "PRESSBOX_CURATOR_GRAPH_MINUTES": f"{GRAPH_MINUTES:g}",
            "AI_EVALUATION_ENABLED": "1",
            "PRESSBOX_CURATOR_EVALUATOR": "offline",
            "LANGFUSE_HOST": f"http://127.0.0.1:{self.langfuse}",
            "LANGFUSE_PUBLIC_KEY": PUBLIC_KEY,
            "LANGFUSE_SECRET_KEY": SECRET_KEY,
        }

    def _footy_settings(self, speed: float) -> dict[str, str]:
        social = f"http://127.0.0.1:{self.social}"
        return {
            "PRESSBOX_FOOTY_API_URL": f"http://127.0.0.1:{self.fixtures}",
            "PRESSBOX_FOOTY_API_KEY": DEMO_KEY,
            "PRESSBOX_FOOTY_LEAGUES": str(WORLD_CUP),
            "PRESSBOX_FOOTY_TEAMS": "",
            "PRESSBOX_FOOTY_SPEED": f"{MATCH_SPEED * speed:g}",
            "PRESSBOX_FOOTY_ALIASES": "clubs",
            "PRESSBOX_FOOTY_JUDGE": "offline",
            "PRESSBOX_FOOTY_SOURCES": "x-api,reddit",
            "PRESSBOX_FOOTY_X_API_URL": f"{social}/x-api",
            "PRESSBOX_FOOTY_X_API_TOKEN": "demo",
            "PRESSBOX_FOOTY_REDDIT_URL": f"{social}/reddit",
            "PRESSBOX_FOOTY_REDDIT_SUBREDDITS": "soccer",
            # Long, because a busy machine is not stuck.
            "PRESSBOX_FOOTY_COMPLETION_DEADLINE_MINUTES": "10000",
        }


@dataclass(frozen=True)
class World:
    notifications: NotificationTarget
    mail: MailSink
    fixtures: FixturesApi
    social: SocialSite
    news: NewsSite
    model: ModelService
    deepl: DeepLSimulator
    microsoft: MicrosoftSimulator
    github: GitHubService
    langfuse: LangfuseService
    push: PushService


@asynccontextmanager
async def open_world(ports: WorldPorts) -> AsyncIterator[World]:
    ports.let_go()
    async with (
        NotificationTarget(ports.notifications) as notifications,
        MailSink(ports.mailbox, ports.mail) as mail,
        FixturesApi(ports.fixtures) as fixtures,
        SocialSite(ports.social) as social,
        NewsSite(ports.news, held=HELD_ARTICLES) as news,
        ModelService(ports.model, script=answer_task) as model,
        DeepLSimulator(ports.deepl) as deepl,
        MicrosoftSimulator(ports.microsoft) as microsoft,
        GitHubService(ports.github) as github,
        LangfuseService(ports.langfuse) as langfuse,
        PushService(ports.push) as push,
    ):
        model.pace = WRITING_SECONDS
        yield World(notifications, mail, fixtures, social, news, model, deepl, microsoft, github, langfuse, push)
