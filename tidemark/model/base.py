"""The bases of all models, and the form of names in a suite."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tidemark.model.refusal import Contradictions, Problem, form

NAME = "[a-z][a-z0-9_]{0,31}"
_FORM = form(f"^{NAME}$", "a small letter, and up to 31 small letters, digits and _ after it")
Name = Annotated[str, Field(pattern=_FORM)]


class Frozen(BaseModel):
    """A model that refuses unknown fields and does not change."""

    # Validators are built at first use: most processes use few models.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Consistent(Frozen):
    """A model that refuses values that are accepted one by one, but not together."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := list(self.contradictions()):
            raise Contradictions(found)
        return self

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the fields do not fit each other.

        Places begin in the model. A sentence begins with the place, unless that is the whole model.
        """
        raise NotImplementedError
