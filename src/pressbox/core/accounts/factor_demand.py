"""Who must have a second factor, and whether somebody has one. Light to import."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.factor_rows import AuthenticatorAppRow, PasskeyRow
from pressbox.core.accounts.models import Role
from pressbox.core.config import SecondFactorRule


def is_demanded(rule: SecondFactorRule, role: Role) -> bool:
    return rule is SecondFactorRule.EVERYBODY or (rule is SecondFactorRule.ADMINISTRATORS and role is Role.ADMIN)


async def has_any(session: AsyncSession, user_id: int) -> bool:
    app = select(AuthenticatorAppRow.user_id).where(
        AuthenticatorAppRow.user_id == user_id, AuthenticatorAppRow.confirmed_at.is_not(None)
    )
    key = select(PasskeyRow.user_id).where(PasskeyRow.user_id == user_id)
    return (await session.execute(app.union_all(key).limit(1))).first() is not None
