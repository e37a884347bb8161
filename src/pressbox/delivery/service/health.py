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
    many = f"{number} channels lead to addresses that are" if number != 1 else "A channel leads to an address that is"
    return (
        PartHealth(
            "channels",
            HealthState.WARNING,
            f"{many} used no longer, such as mailto://. Nothing is sent there.",
            "Its owner was told, and gives it another address on the channels page or removes it.",
        ),
    )
