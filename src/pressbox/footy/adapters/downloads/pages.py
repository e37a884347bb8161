"""Gets the video of a page: starts the program that does it, behind the guarded proxy, and reads how it ended."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from pressbox.core.errors import PressboxError, TransientError
from pressbox.core.http.proxy import GuardedProxy, Lease
from pressbox.core.http.url import checked_url
from pressbox.footy.adapters.downloads.files import check_space, measured, too_large
from pressbox.footy.adapters.downloads.page_program import End, Job, Told
from pressbox.footy.domain.errors import ClipGoneError, NotAVideoError
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits

PROGRAM = "pressbox.footy.adapters.downloads.page_program"
# Pages, lists of pieces and the cost of the encryption come on top of the clip itself.
_BYTES_BESIDES = 20_000_000
_SHARE_BESIDES = 1.1
_LARGEST_TELLING = 64 * 1024
_GRACE_SECONDS = 3.0


async def fetch_from_page(proxy: GuardedProxy, url: str, target: Path, limits: DownloadLimits) -> DownloadedFile:
    """All that the program writes lies in a folder of its own beside the target, and goes with it."""
    checked_url(url)
    check_space(target.parent, limits)
    folder = Path(tempfile.mkdtemp(prefix="page-", dir=target.parent))
    budget = int(limits.largest_bytes * _SHARE_BESIDES) + _BYTES_BESIDES
    try:
        async with proxy.lease(budget, limits.time) as lease:
            job = Job(url, lease.url, str(folder), limits.largest_bytes, limits.time.total_seconds())
            told = await _run(job)
            if told.end is not End.FILE:
                raise _error(told, lease, limits)
            return await asyncio.to_thread(_kept, folder / Path(told.file).name, target, limits)
    finally:
        # Also when we are cancelled: no second wait on the way out.
        shutil.rmtree(folder, ignore_errors=True)


def _kept(file: Path, target: Path, limits: DownloadLimits) -> DownloadedFile:
    result = measured(file, limits)
    file.replace(target)
    return result


def _error(told: Told, lease: Lease, limits: DownloadLimits) -> PressboxError:
    """What the proxy saw is certain; what the program says is its guess."""
    if lease.refused is not None:
        return lease.refused
    if lease.exhausted or told.end is End.TOO_LARGE:
        return too_large(limits)
    if told.end is End.GONE:
        return ClipGoneError(told.message)
    if told.end is End.NOT_A_VIDEO:
        return NotAVideoError(told.message)
    return TransientError(told.message or "The page could not be read.")


async def _run(job: Job) -> Told:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        PROGRAM,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # No settings and no keys of ours, and a group of its own so that its children end with it.
        env={"PATH": "", "YTDLP_NO_PLUGINS": "1", "LANG": "C.UTF-8"},
        start_new_session=True,
        cwd=job.folder,
    )
    try:
        async with asyncio.timeout(job.seconds + _GRACE_SECONDS):
            output, _ = await process.communicate(json.dumps(asdict(job)).encode())
    except TimeoutError:
        return Told(End.FAILED, f"The clip did not arrive within {job.seconds:g} seconds.")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode == -signal.SIGXFSZ:
        return Told(End.TOO_LARGE)
    return _told(output)


def _told(output: bytes) -> Told:
    try:
        given = json.loads(output[:_LARGEST_TELLING])
        return Told(End(given["end"]), str(given["message"]), str(given["file"]))
    except (ValueError, KeyError, TypeError):
        return Told(End.FAILED, "The program that reads pages ended without a word.")
