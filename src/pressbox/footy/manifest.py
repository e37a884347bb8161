"""Matches as an application. In this version it has a page that says what it is for, and runs nothing."""

from pressbox.core.app import AppManifest, NavigationEntry
from pressbox.footy.web.intro import PATH, router

APP = AppManifest(
    name="footy",
    title="Matches",
    summary="Live fixtures, confirmed goals and the best clip of each, while the match is on.",
    router=router,
    navigation=NavigationEntry(title="Matches", path=PATH, key="m", icon="ball"),
)
