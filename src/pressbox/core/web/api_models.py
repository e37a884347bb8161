"""The bases of what the API takes and gives."""

from pydantic import BaseModel, ConfigDict, Field


class RequestBody(BaseModel):
    """Refuses fields that it does not know: a typing error is not ignored in silence."""

    model_config = ConfigDict(extra="forbid")


class ResponseModel(BaseModel):
    """Is filled from any object with the same attributes."""

    model_config = ConfigDict(from_attributes=True)


class StartedWorkflow(ResponseModel):
    workflow_id: str | None = Field(description="Follow it at /api/workflows/active; null: there was nothing to do.")
