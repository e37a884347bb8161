"""What delivery says of itself on the status page and in `pressbox doctor`."""

from collections.abc import Sequence

from pressbox.core.app import Resources
from pressbox.core.health import HealthState, PartHealth
from pressbox.delivery.adapters.refused_channels import RefusedChannels


async def check_channels(resources: Resources) -> Sequence[PartHealth]:
    """Nothing is to be said while every channel may be used. Whose they are is nobody else's business."""
    number = await RefusedChannels(resources.database).count()
    if not number:
        return ()
    detail = (
        "A channel leads to an address of a kind that is no longer used, such as mailto://. Nothing is sent there."
        if number == 1
        else f"{number} channels lead to addresses of a kind that is no longer used, such as mailto://. "
        "Nothing is sent there."
    )
    fix = "Their owners were told. They choose another address on the channels page, or remove the channel."
    return (PartHealth("channels", HealthState.WARNING, detail, fix),)
