"""The bases of what the API takes and gives."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import PydanticCustomError

# A person mistakes a few fields. Each mistake becomes an object of its own before one of them is told.
MOST_MISTAKES = 20


class RequestBody(BaseModel):
    """Refuses fields that it does not know: a typing error is not ignored in silence."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_many_mistakes_as_one(cls, body: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return validate(body)
        except ValidationError as error:
            if error.error_count() <= MOST_MISTAKES:
                raise
            raise PydanticCustomError("too_many_mistakes", "The body has too many mistakes to name one.") from error


class ResponseModel(BaseModel):
    """Is filled from any object with the same attributes."""

    model_config = ConfigDict(from_attributes=True)


class StartedWorkflow(ResponseModel):
    workflow_id: str | None = Field(description="Follow it at /api/workflows/active; null: there was nothing to do.")
