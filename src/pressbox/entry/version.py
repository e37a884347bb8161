"""The version that is installed."""

from importlib.metadata import version

import typer

VERSION = version("pressbox")


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pressbox {VERSION}")
        raise typer.Exit
