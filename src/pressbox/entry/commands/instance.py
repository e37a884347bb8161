"""The commands that run and keep an instance, from `up` to `restore`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.collection import collect_rarely
from pressbox.core.commands import Json, run_with_resources
from pressbox.core.errors import InvalidInputError
from pressbox.entry.settings import prepare_settings

if TYPE_CHECKING:
    from pressbox.embedded.archive import ArchiveManifest


def up(
    demo: Annotated[bool, typer.Option("--demo", help="Also run the demo world.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Follow the logs of all parts.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print where everything is as JSON, once it is ready.")
    ] = False,
) -> None:
    """Start PostgreSQL, Temporal, worker and web, keep them running, and stop them on Ctrl-C."""
    from pressbox.entry.up import run_up

    settings = prepare_settings()
    run_up(settings.model_copy(update={"demo": True}) if demo else settings, verbose=verbose, as_json=as_json)


def demo(
    only: Annotated[list[str] | None, typer.Option(help="Play only this scenario; may be repeated.")] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Play once to the end, print a summary, and exit 0 only if all was met.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    speed: Annotated[float, typer.Option(min=0.1, max=1000, help="Divide all waiting times by this.")] = 1.0,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="Plant a fault, as ACTIVITY.MOMENT.ACTION, e.g. take_demo_step.after.kill; may be repeated."),
    ] = None,
) -> None:
    """See Pressbox alive within a minute: everything runs, nobody has to sign in, nothing outside is touched."""
    from pressbox.entry.demo import run_demo

    run_demo(only or (), fault or (), headless=headless, as_json=as_json, speed=speed)


def doctor(as_json: Json = False) -> None:
    """Check every part, and say how to fix what is wrong. Exit code 1 when something failed."""
    from pressbox.entry.doctor import run_doctor

    run_doctor(as_json=as_json)


def web() -> None:
    """Serve the web application against parts that already run."""
    collect_rarely()

    from pressbox.entry.web import run_web

    run_web(prepare_settings())


def worker(
    queue: Annotated[list[str] | None, typer.Option(help="Poll only this task queue; may be repeated.")] = None,
) -> None:
    """Run workflows and activities against parts that already run."""
    collect_rarely()

    from pressbox.entry.worker import run_worker

    asyncio.run(run_worker(prepare_settings(), queue or ()))


def migrate() -> None:
    """Bring the database to the version that this program needs."""
    from pressbox.core.db.migrate import upgrade
    from pressbox.entry.wiring import find_database

    upgrade(find_database(prepare_settings()))
    typer.echo("The database is up to date.")


def rotate_key(context: typer.Context) -> None:
    """Seal everything with the present instance key. Older keys are then no longer needed."""
    from pressbox.entry.key_rotation import seal_again

    for what, count in run_with_resources(context, seal_again).items():
        typer.echo(f"{what}: {count} sealed with the present key.")
    typer.echo("You can now remove PRESSBOX_OLD_SECRET_KEYS; links in old messages then stop working.", err=True)


def backup(
    file: Annotated[Path, typer.Argument(help="The archive to write, for example pressbox.tar.gz.")],
    without_secret_key: Annotated[
        bool, typer.Option("--without-secret-key", help="Leave the instance's secret key out; keep it yourself.")
    ] = False,
    scratch: Annotated[
        Path | None,
        typer.Option(help="Folder for temporary files, as large as the database; otherwise the archive's folder."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; read this archive and compare it with its checksums.")
    ] = False,
) -> None:
    """Write database, objects and workflows into one file. It is read back, and works while Pressbox runs."""
    from pressbox.core.release import release
    from pressbox.embedded.backup import write_backup

    if check:
        _check_backup(file)
        return
    if file.is_dir():
        raise InvalidInputError(f"{file} is a folder. Give the name of the file to write.", field="file")
    if scratch and not scratch.is_dir():
        raise InvalidInputError(f"There is no folder {scratch}.", field="scratch")
    manifest = write_backup(
        prepare_settings(), file, product_version=release(), with_secret_key=not without_secret_key, scratch=scratch
    )
    size = f"{file.stat().st_size / 1000:,.0f} kB"
    typer.echo(f"Wrote {file} ({size}) and read it back: {_contents(manifest)}.")
    for missing in manifest.not_included:
        typer.echo(f"Not in it: {missing}.")
    typer.echo("Not in it: your settings in the environment or in .env.")
    if manifest.secret_key_included:
        typer.echo("The secret key is in it: keep the file as safe as the instance itself.")


def _check_backup(file: Path) -> None:
    from pressbox.embedded.archive import check

    manifest = check(file)
    made = f"made by Pressbox {manifest.product_version} at {manifest.created:%Y-%m-%d %H:%M} UTC"
    typer.echo(f"{file} is whole: {made}, with {_contents(manifest)}.")
    for missing in manifest.not_included:
        typer.echo(f"Not in it: {missing}.")


def restore(
    file: Annotated[Path, typer.Argument(help="An archive that `pressbox backup` wrote.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what this home holds now.")] = False,
    with_other_key: Annotated[
        bool, typer.Option("--with-other-key", help="Go on although what the old secret key sealed stays unreadable.")
    ] = False,
) -> None:
    """Bring everything back from a backup. Pressbox must not run meanwhile."""
    from pressbox.core.release import release
    from pressbox.embedded.restore import restore_backup

    settings = prepare_settings()
    manifest = restore_backup(settings, file, product_version=release(), force=force, with_other_key=with_other_key)
    typer.echo(f"Restored {file}, made at {manifest.created:%Y-%m-%d %H:%M} UTC: {_contents(manifest)}.")
    for missing in manifest.not_included:
        typer.echo(f"It did not contain {missing}.")
    if settings.temporal.address and manifest.has("temporal.db"):
        typer.echo("The workflows in it were left out: PRESSBOX_TEMPORAL_ADDRESS names another Temporal.")
    typer.echo("Start it with: pressbox up\nThe search index is then built again; the status page shows how far it is.")


def _contents(manifest: ArchiveManifest) -> str:
    objects = sum(member.name.startswith("objects/") for member in manifest.members)
    parts = ["the database", f"{objects} object{'s' if objects != 1 else ''}"]
    if manifest.has("temporal.db"):
        parts.append("Temporal's state")
    return ", ".join(parts)
