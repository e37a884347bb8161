"""How many channels one person may have."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.quotas.quota import Quota
from pressbox.delivery.adapters.rows import ChannelRow
from pressbox.delivery.domain.channels import MAX_CHANNELS


async def count_channels(session: AsyncSession, user_id: int) -> int:
    return await session.scalar(select(func.count()).where(ChannelRow.user_id == user_id)) or 0


CHANNELS = Quota("channels", "Channels", MAX_CHANNELS, count=count_channels)
