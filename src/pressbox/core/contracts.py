"""The base of everything that crosses Temporal: inputs, results, carried state, progress."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Contract(BaseModel):
    """Frozen, and tolerant of fields that a newer version added: old histories must stay readable.

    Change by addition only, with a default. Carry ids and object keys, never bodies or secrets.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


class CamelContract(Contract):
    """A contract that is camelCase on the wire and snake_case in the code; it reads both."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)
