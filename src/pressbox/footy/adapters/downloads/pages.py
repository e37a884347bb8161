"""Downloads the video of a page: runs the program that does it behind the guarded proxy."""

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
from pressbox.core.http.url import check_url
from pressbox.footy.adapters.downloads.files import check_space, measure, too_large_error
from pressbox.footy.adapters.downloads.joined import JoinSound, join_or_keep
from pressbox.footy.adapters.downloads.page_program import Job, PageEnd, PageResult
from pressbox.footy.domain.errors import ClipGoneError, NotAVideoError
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits

PROGRAM = "pressbox.footy.adapters.downloads.page_program"
# Pages, playlists and encryption come on top of the clip itself.
_BYTES_BESIDES = 20_000_000
_SHARE_BESIDES = 1.1
_LARGEST_RESULT = 64 * 1024
_GRACE_SECONDS = 3.0


async def fetch_from_page(
    proxy: GuardedProxy,
    url: str,
    target: Path,
    limits: DownloadLimits,
    cookies: str = "",
    join: JoinSound | None = None,
) -> DownloadedFile:
    """The program writes into a folder of its own beside the target, which is deleted at the end."""
    check_url(url)
    check_space(target.parent, limits)
    folder = Path(tempfile.mkdtemp(prefix="page-", dir=target.parent))
    budget = int(limits.largest_bytes * _SHARE_BESIDES) + _BYTES_BESIDES
    try:
        async with proxy.lease(budget, limits.time) as lease:
            seconds = limits.time.total_seconds()
            job = Job(url, lease.url, str(folder), limits.largest_bytes, seconds, cookies, parent=os.getpid())
            result = await run_program(job)
            if result.end is not PageEnd.FILE:
                raise _download_error(result, lease, limits)
            file = folder / Path(result.file).name
            if join is not None and result.sound:
                file = await join_or_keep(file, folder / Path(result.sound).name, folder / "joined", join)
            return await asyncio.to_thread(_keep_file, file, target, limits)
    finally:
        # Not awaited, so that it also runs when we are cancelled.
        shutil.rmtree(folder, ignore_errors=True)


def _keep_file(file: Path, target: Path, limits: DownloadLimits) -> DownloadedFile:
    result = measure(file, limits)
    file.replace(target)
    return result


def _download_error(result: PageResult, lease: Lease, limits: DownloadLimits) -> PressboxError:
    """What the proxy saw is certain; what the program reports is a guess."""
    if lease.refused is not None:
        return lease.refused
    if lease.exhausted or result.end is PageEnd.TOO_LARGE:
        return too_large_error(limits)
    if result.end is PageEnd.GONE:
        return ClipGoneError(result.message)
    if result.end in (PageEnd.NOT_A_VIDEO, PageEnd.GREEDY):
        return NotAVideoError(result.message)
    return TransientError(result.message or "The page could not be read.")


async def run_program(job: Job) -> PageResult:
    """Its result, however it ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        PROGRAM,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # None of our settings and keys, and a process group of its own so that its children end with it.
        env={"PATH": "", "YTDLP_NO_PLUGINS": "1", "LANG": "C.UTF-8"},
        start_new_session=True,
        cwd=job.folder,
    )
    try:
        async with asyncio.timeout(job.seconds + _GRACE_SECONDS):
            output, _ = await process.communicate(json.dumps(asdict(job)).encode())
    except TimeoutError:
        return PageResult(PageEnd.FAILED, f"The clip did not arrive within {job.seconds:g} seconds.")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode == -signal.SIGXFSZ:
        return PageResult(PageEnd.TOO_LARGE)
    if process.returncode == -signal.SIGXCPU:
        return PageResult(
            PageEnd.GREEDY, f"The page takes more than {job.processor_seconds} seconds of processor time."
        )
    return _parse_result(output)


def _parse_result(output: bytes) -> PageResult:
    try:
        given = json.loads(output[:_LARGEST_RESULT])
        return PageResult(PageEnd(given["end"]), str(given["message"]), str(given["file"]), str(given["sound"]))
    except (ValueError, KeyError, TypeError):
        return PageResult(PageEnd.FAILED, "The program that downloads from pages ended without a result.")
