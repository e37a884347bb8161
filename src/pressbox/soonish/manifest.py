"""Events as an application. In this version it has a page that says what it is for, and runs nothing."""

from pressbox.core.app import AppManifest, NavigationEntry
from pressbox.soonish.web.routes import PATH, router

APP = AppManifest(
    name="soonish",
    title="Events",
    summary="Events, announcements to everybody who must hear of them, and reminders that move with the date.",
    router=router,
    navigation=NavigationEntry(title="Events", path=PATH, key="e", icon="bell"),
)
