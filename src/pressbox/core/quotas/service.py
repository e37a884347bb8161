"""What people may use, for pages, the API and the command line."""

from collections.abc import Sequence

from pressbox.core.accounts import audit, people
from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.models import Actor
from pressbox.core.app import AppManifest
from pressbox.core.db.database import Database
from pressbox.core.logs import get_logger
from pressbox.core.quotas.declared import declared_quotas
from pressbox.core.quotas.quota import QuotaUse, find_quota
from pressbox.core.quotas.store import list_uses, set_limit

log = get_logger(__name__)


class QuotaService:
    def __init__(self, database: Database, manifests: Sequence[AppManifest]) -> None:
        self._database = database
        self._quotas = declared_quotas(manifests)

    async def list(self, user_id: int) -> Sequence[QuotaUse]:
        async with self._database.unit_of_work() as work:
            await people.get(work.session, user_id)
            return await list_uses(work.session, self._quotas, user_id)

    async def set_limit(self, user_id: int, key: str, most: int | None, *, actor: Actor) -> QuotaUse:
        """Give somebody a limit of their own; None takes it back."""
        quota = find_quota(self._quotas, key)
        async with self._database.unit_of_work() as work:
            await people.get(work.session, user_id)
            await set_limit(work.session, quota, user_id, most)
            await audit.record(work.session, Action.QUOTA_CHANGED, actor, user_id, quota=key, most=most)
            [use] = await list_uses(work.session, [quota], user_id)
        log.info("quota_set", msg="A limit of one person was changed", user_id=user_id, quota=key, most=use.most)
        return use
