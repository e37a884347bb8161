"""`pressbox backup` and `pressbox restore`."""

from pathlib import Path
from typing import Annotated

import typer

from pressbox.core.errors import InvalidInputError
from pressbox.embedded.archive import ArchiveManifest
from pressbox.embedded.backup import write_backup
from pressbox.embedded.restore import restore_backup
from pressbox.entry.commands.process import prepared_settings
from pressbox.entry.version import VERSION


def backup(
    file: Annotated[Path, typer.Argument(help="The archive to write, for example pressbox.tar.gz.")],
    without_secret_key: Annotated[
        bool, typer.Option("--without-secret-key", help="Leave the instance's secret key out; keep it yourself.")
    ] = False,
) -> None:
    """Write database, objects and workflows into one file. Works while Pressbox runs."""
    if file.is_dir():
        raise InvalidInputError(f"{file} is a folder. Give the name of the file to write.", field="file")
    manifest = write_backup(prepared_settings(), file, product_version=VERSION, with_secret_key=not without_secret_key)
    typer.echo(f"Wrote {file} ({file.stat().st_size / 1000:,.0f} kB): {_contents(manifest)}.")
    for missing in manifest.not_included:
        typer.echo(f"Not in it: {missing}.")
    if manifest.secret_key_included:
        typer.echo("The secret key is in it: keep the file as safe as the instance itself.")


def restore(
    file: Annotated[Path, typer.Argument(help="An archive that `pressbox backup` wrote.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what this home holds now.")] = False,
) -> None:
    """Bring everything back from a backup. Pressbox must not run meanwhile."""
    manifest = restore_backup(prepared_settings(), file, product_version=VERSION, force=force)
    typer.echo(f"Restored {file}, made at {manifest.created:%Y-%m-%d %H:%M} UTC: {_contents(manifest)}.")
    for missing in manifest.not_included:
        typer.echo(f"It did not contain {missing}.")
    typer.echo("Start it with: pressbox up")


def _contents(manifest: ArchiveManifest) -> str:
    objects = sum(member.name.startswith("objects/") for member in manifest.members)
    parts = ["the database", f"{objects} object{'s' if objects != 1 else ''}"]
    if manifest.has("temporal.db"):
        parts.append("Temporal's state")
    return ", ".join(parts)
