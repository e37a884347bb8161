"""`pressbox x serve` and `pressbox x login`: the browser search service of X.

It may run on a machine of its own, so it needs settings and a home, and no running parts.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.errors import ConfigurationError

if TYPE_CHECKING:
    from pressbox.core.app import OpenResources
    from pressbox.core.config import Settings
    from pressbox.core.http.proxy import GuardedProxy
    from pressbox.footy.x.browser import XBrowser

commands = typer.Typer(help="Search X with a browser that you logged in.", no_args_is_help=True)


@commands.command("serve")
def serve(context: typer.Context) -> None:
    """Answer searches: POST /search with the token of PRESSBOX_FOOTY_X_BROWSER_TOKEN, GET /health without."""
    from pressbox.footy.settings import FootySettings

    settings = _settings(context)
    token = settings.group(FootySettings).x_browser_token
    if token is None:
        raise ConfigurationError(
            "The service needs a token: set PRESSBOX_FOOTY_X_BROWSER_TOKEN here and where Pressbox runs."
        )
    asyncio.run(_serve(settings, token.get_secret_value()))


@commands.command("login")
def login(context: typer.Context) -> None:
    """Log in once, in a visible window; the session is kept encrypted in the home folder."""
    settings = _settings(context)
    typer.echo("Log in to X in the window that opens. This command ends by itself.")
    if not asyncio.run(_login(settings)):
        raise ConfigurationError("Nobody logged in within ten minutes. Nothing was kept; try again.")
    typer.echo("The login is kept. Start the service with `pressbox x serve`.")


@commands.command("import-cookies")
def import_cookies(
    context: typer.Context,
    file: Annotated[typer.FileText, typer.Argument(help="cookies.txt or an extension's JSON; - reads standard input.")],
) -> None:
    """Take over a login from another browser, for a server without a screen; it is kept encrypted."""
    from pressbox.core.clock import utc_now
    from pressbox.footy.x.cookies import LARGEST_EXPORT, read_export
    from pressbox.footy.x.session import open_session

    cookies = read_export(file.read(LARGEST_EXPORT), utc_now())
    open_session(_settings(context)).save(cookies)
    typer.echo("The login is kept. Delete the exported file: whoever has it is logged in. Then run `pressbox x serve`.")


def _settings(context: typer.Context) -> Settings:
    program: OpenResources = context.obj
    return program.settings()


async def _serve(settings: Settings, token: str) -> None:
    import uvicorn

    from pressbox.core.http.proxy import GuardedProxy
    from pressbox.core.web.server import Door, DoorLimits, guarded_protocol
    from pressbox.footy.settings import FootySettings
    from pressbox.footy.x.service import build_service

    footy = settings.group(FootySettings)
    async with GuardedProxy(settings.http) as proxy, _browser(settings, proxy).running() as browser:
        if not browser.authenticated:
            typer.echo(
                "Nobody is logged in yet: run `pressbox x login`. Until then every search answers 503.", err=True
            )
        config = uvicorn.Config(
            build_service(browser, token),
            host=footy.x_serve_host,
            port=footy.x_serve_port,
            http=guarded_protocol(Door(DoorLimits())),
            ws="none",
            log_config=None,
        )
        typer.echo(f"Searching X at http://{footy.x_serve_host}:{footy.x_serve_port}. Stop with Ctrl-C.")
        await uvicorn.Server(config).serve()


async def _login(settings: Settings) -> bool:
    from pressbox.core.http.proxy import GuardedProxy

    async with GuardedProxy(settings.http) as proxy, _browser(settings, proxy).running(visible=True) as browser:
        return await browser.login()


def _browser(settings: Settings, proxy: GuardedProxy) -> XBrowser:
    from pressbox.footy.settings import FootySettings
    from pressbox.footy.x.pace import SearchPace
    from pressbox.footy.x.session import open_session

    try:
        from pressbox.footy.x.browser import XBrowser
    except ImportError as error:
        raise ConfigurationError(
            "The X search service drives a browser and needs Playwright: install pressbox[x], then a Chromium"
            " (`playwright install chromium`, or the package of your system)."
        ) from error
    footy = settings.group(FootySettings)
    pace = SearchPace(footy.x_searches)
    return XBrowser(footy.x_page_url, open_session(settings), proxy, footy.x_chromium, pace, sandbox=footy.x_sandbox)
