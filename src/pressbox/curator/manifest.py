"""The reader as an application. In this version it has a page that says what it is for, and runs nothing."""

from pressbox.core.app import AppManifest, NavigationEntry
from pressbox.curator.web.access import PATH
from pressbox.curator.web.routes import router

APP = AppManifest(
    name="curator",
    title="Reader",
    summary="Feeds, the articles behind them, their gist, and an answer to what you know about a subject.",
    router=router,
    navigation=NavigationEntry(title="Reader", path=PATH, key="r", icon="page"),
)
