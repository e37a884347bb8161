"""What workflows are told of the settings."""

from datetime import timedelta

from pressbox.core.config import Settings
from pressbox.soonish.contracts import SoonishPolicy
from pressbox.soonish.settings import SoonishSettings


def policy(settings: Settings) -> SoonishPolicy:
    soonish = settings.group(SoonishSettings)
    return SoonishPolicy(
        merge_window=timedelta(seconds=soonish.merge_window_seconds),
        batch_size=soonish.batch_size,
        concurrent_deliveries=soonish.concurrent_deliveries,
    )
