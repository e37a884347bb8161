"""Custom search attributes: declared by the applications, registered once per namespace."""

from collections.abc import Iterable
from typing import Any

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.errors import ConfigurationError


async def register_search_attributes(client: Client, keys: Iterable[SearchAttributeKey[Any]]) -> tuple[str, ...]:
    """Add what is missing and return its names. Safe to repeat."""
    wanted = {key.name: key.indexed_value_type for key in keys}
    if not wanted:
        return ()
    try:
        known = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
        missing = {name: kind for name, kind in wanted.items() if name not in known.custom_attributes}
        if missing:
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(
                    namespace=client.namespace,
                    search_attributes={name: IndexedValueType.ValueType(int(kind)) for name, kind in missing.items()},
                )
            )
    except RPCError as error:
        if error.status not in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
            raise
        raise ConfigurationError(
            "This Temporal does not let us register search attributes. Ask its operator to add them: "
            + ", ".join(sorted(wanted))
        ) from error
    return tuple(sorted(missing))
