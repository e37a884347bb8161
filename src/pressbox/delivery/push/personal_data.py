"""What is kept of a person's browsers. All of it hangs on their row and ends with it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pressbox.core.app import PersonalData, Resources
from pressbox.delivery.push.store import PushStore


async def export(resources: Resources, user_id: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Without addresses and keys: they are secrets between the browser, its push service and this instance."""
    devices = await PushStore(resources.database, resources.settings).list(user_id)
    return {"push-browsers": [asdict(device) for device in devices]}


async def erase(_: Resources, __: int) -> Collection[str]:
    return ()


PERSONAL_DATA = PersonalData(export, erase)
