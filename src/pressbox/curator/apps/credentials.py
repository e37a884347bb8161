"""App passwords and feeds of lists as lasting credentials: they end with the password of the account."""

from collections.abc import Collection, Sequence

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.app import Credential, CredentialKind
from pressbox.curator.apps.store import AppPasswordRow, ViewFeedRow


async def _load_passwords(session: AsyncSession, user_id: int) -> Sequence[Credential]:
    statement = select(AppPasswordRow).where(AppPasswordRow.user_id == user_id).order_by(AppPasswordRow.id)
    rows = await session.scalars(statement)
    return [Credential(str(row.id), row.name, row.created_at, row.last_used_at) for row in rows]


async def _revoke_passwords(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
    """What apps got for these passwords ends with them."""
    mine = (AppPasswordRow.user_id == user_id, AppPasswordRow.id.in_([int(one) for one in ids]))
    await session.execute(delete(AppPasswordRow).where(*mine))


async def _load_feeds(session: AsyncSession, user_id: int) -> Sequence[Credential]:
    statement = select(ViewFeedRow).where(ViewFeedRow.user_id == user_id).order_by(ViewFeedRow.id)
    rows = await session.scalars(statement)
    return [Credential(str(row.id), _words(row), row.created_at, row.last_used_at) for row in rows]


async def _revoke_feeds(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
    mine = (ViewFeedRow.user_id == user_id, ViewFeedRow.id.in_([int(one) for one in ids]))
    await session.execute(delete(ViewFeedRow).where(*mine))


def _words(row: ViewFeedRow) -> str:
    """Enough to recognise the list by: what it searches for, its kind, its number."""
    return f"{row.view.get('query') or row.view.get('kind', '')} ({row.id})"


CREDENTIALS = (
    CredentialKind("app-password", "App passwords", _load_passwords, _revoke_passwords),
    CredentialKind("view-feed", "Lists as feeds", _load_feeds, _revoke_feeds),
)
