"""The base of models whose fields must fit each other."""

from collections.abc import Iterator
from typing import Self

from pydantic import model_validator

from tidemark.model.frozen import Frozen
from tidemark.model.refusal import Contradictions, Problem


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
