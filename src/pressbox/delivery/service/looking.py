"""Sees in the database, beside a worker, that notices wait, and starts the workflow that sends them.

A notification of the database wakes it at once; a look every few seconds finds what a lost one, a retry or a delay
leaves. Looking costs Temporal nothing.
"""

import asyncio
from functools import partial

import psycopg
from psycopg import sql
from sqlalchemy import text
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from pressbox.core.app import Resources
from pressbox.core.db.changes import CHANGES_CHANNEL
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.notices.publish import NOTICE_CHANGED
from pressbox.core.processes.calls import CallFailedError
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.delivery.adapters.address_book import Reveal
from pressbox.delivery.adapters.apprise_child import list_services
from pressbox.delivery.adapters.apprise_sender import fork_server
from pressbox.delivery.adapters.notice_ledger import SqlNoticeLedger
from pressbox.delivery.adapters.refused_channels import RefusedChannels
from pressbox.delivery.contracts import SendNoticesInput
from pressbox.delivery.domain.targets import find_refusal
from pressbox.delivery.ids import QUEUE, SEND_NOTICES, SEND_NOTICES_WORKFLOW
from pressbox.delivery.settings import DeliverySettings

log = get_logger(__name__)

LOOK_SECONDS = 3.0
# A run that was just ending may not have seen what came: it is started again until nothing waits.
AGAIN_SECONDS = 1.0
_PAUSE_SECONDS = 2.0


async def keep_looking(resources: Resources, reveal: Reveal) -> None:
    """Runs as long as the worker polls. `reveal` opens addresses."""
    is_checked = False
    while True:
        try:
            if not is_checked:
                await mark_refused_channels(resources, reveal)
                is_checked = True
            await _listen(resources)
        except (TransientError, CallFailedError, psycopg.Error, OSError) as error:
            sentence = "Nobody can look which notices wait; it is tried again"
            log.warning("notices_not_started", msg=sentence, error=str(error))
            await asyncio.sleep(_PAUSE_SECONDS)


async def mark_refused_channels(resources: Resources, reveal: Reveal) -> int:
    """Once per start: a new version may refuse addresses that an older one took."""
    allowed = frozenset(resources.settings.group(DeliverySettings).allow_local_schemes)
    find = partial(find_refusal, allowed=allowed)
    marked = await RefusedChannels(resources.database).mark(reveal, find)
    if marked:
        sentence = "Channels lead to addresses that are used no longer; their owners are told"
        log.warning("channels_refused", msg=sentence, channels=marked)
    return marked


async def _make_ready(resources: Resources) -> bool:
    """Load what writes to chats as soon as anybody chose one: the first message should not wait for it."""
    anybody = text("SELECT EXISTS (SELECT FROM core.notice_ways WHERE channel_key LIKE 'channel:%')")
    async with resources.database.unit_of_work() as work:
        if not await work.session.scalar(anybody):
            return False
    await fork_server().run(list_services)
    return True


async def _listen(resources: Resources) -> None:
    is_ready = False
    url = resources.database.driver_url
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=5) as connection:
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANGES_CHANNEL)))
        while True:
            started = await start_when_waiting(resources)
            is_ready = is_ready or await _make_ready(resources)
            await _wait_for_notice(connection, AGAIN_SECONDS if started else LOOK_SECONDS)


async def _wait_for_notice(connection: psycopg.AsyncConnection, seconds: float) -> None:
    """Return when a notice changed, or after a while."""
    async for notification in connection.notifies(timeout=seconds):
        if notification.payload.endswith(f" {NOTICE_CHANGED}"):
            return


async def start_when_waiting(resources: Resources) -> bool:
    """One run at a time, whichever worker sees first that something waits."""
    if not await SqlNoticeLedger(resources.database).count_waiting():
        return False
    at_once = resources.settings.group(DeliverySettings).concurrent_deliveries
    with translate_rpc_errors():
        await resources.temporal.start_workflow(
            SEND_NOTICES,
            SendNoticesInput(at_once=at_once),
            id=SEND_NOTICES_WORKFLOW,
            task_queue=QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
    return True
