"""The base of everything that crosses Temporal: inputs, results, carried state, progress."""

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """Frozen, and tolerant of fields that a newer version added: old histories must stay readable.

    Change by addition only, with a default. Carry ids and object keys, never bodies or secrets.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
