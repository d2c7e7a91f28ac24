"""The parameters of a suite: what a run may set beside the versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator

from tidemark.model.frozen import Frozen
from tidemark.model.refusal import Problem
from tidemark.model.sentences import listed, shown
from tidemark.model.subject import Line

Value = int | float | str
TASKS = "tasks"
MOST_TASKS = 200
# Greater whole numbers are not the same in every JSON reader.
_GREATEST = 2**53 - 1
RESERVED = frozenset({
    "cache", "data", "deadline_seconds", "jobs", "package", "prepared", "seed", "state", "task",
    "uv", "version",
})  # fmt: skip
"""Names whose ``TIDEMARK_<NAME>`` has another meaning in a task."""


def _number(value: object) -> int | float:
    if not isinstance(value, bool) and isinstance(value, int | float) and abs(value) <= _GREATEST:
        return value
    raise ValueError(f"{shown(value)} is not accepted; expected a number up to {_GREATEST:,}")


Number = Annotated[int | float, PlainValidator(_number)]


class Parameter(Frozen):
    """A parameter; tasks get its value as ``TIDEMARK_<NAME>``."""

    model_config = ConfigDict(serialize_by_alias=True)

    type: Literal["integer", "number", "choice"]
    """``integer``, ``number``, or ``choice`` for one of some texts."""
    least: Number | None = Field(default=None, alias="from")
    """The least accepted number."""
    most: Number | None = Field(default=None, alias="to")
    """The greatest accepted number."""
    of: tuple[Line, ...] | None = Field(default=None, min_length=1, max_length=20)
    """The texts of a choice."""
    default: Any
    """The value of a run whose input gives none."""
    unit: Line | None = None
    """The unit of a number, for people."""
    means: Line
    """The meaning of the parameter, for people."""

    @property
    def accepted(self) -> str:
        """The accepted values in words."""
        if self.type == "choice":
            return f"one of {listed(self.of or ())}"
        noun = "a whole number" if self.type == "integer" else "a number"
        return f"{noun} from {self.least:,} to {self.most:,}"

    def accepts(self, value: object) -> bool:
        """Tell whether a value of any type is accepted."""
        if self.type == "choice":
            return value in (self.of or ())
        kinds = int if self.type == "integer" else int | float
        if isinstance(value, bool) or not isinstance(value, kinds):
            return False
        return (self.least or 0) <= value <= (self.most or 0)

    def parsed(self, text: str) -> Value:
        """Return the value that a text of the command line stands for, or else the text."""
        read: dict[str, type[Value]] = {"integer": int, "number": float, "choice": str}
        try:
            return read[self.type](text)
        except ValueError:
            return text

    def text(self, value: Value) -> str:
        """Return a value for people, with its unit: ``1,000,000 records``."""
        return f"{amount(value)} {self.unit or ''}".strip()

    def contradictions(self, name: str) -> Iterator[Problem]:
        """Yield why the fields of the parameter of this name do not fit each other."""
        place, field = ("parameters", name), f"parameters.{name}"
        if name in RESERVED:
            others = listed(sorted(RESERVED))
            yield Problem(place, f"{field}: the name has another meaning, as have {others}")
        if sentence := self._misfit(name):
            yield Problem(place, f"{field}: {sentence}")
        elif not self.accepts(self.default):
            sentence = f"{shown(self.default)} is not accepted; expected {self.accepted}"
            yield Problem((*place, "default"), f"{field}.default: {sentence}")

    def _misfit(self, name: str) -> str | None:
        """Return what is missing or too much, as a sentence; None if the fields fit the type."""
        if name == TASKS and not self._counts_tasks:
            return f"expected type integer, from 1 or more, and to {MOST_TASKS} or less"
        if self.type == "choice":
            fits = self.of is not None and self.least is None and self.most is None
            return None if fits else "a choice has the field of, and neither from nor to"
        if self.of is not None or self.least is None or self.most is None:
            return "a number has the fields from and to, and no field of"
        if self.least > self.most:
            return f"from, {self.least:,}, is more than to, {self.most:,}"
        whole = all(isinstance(limit, int) for limit in (self.least, self.most))
        return None if whole or self.type == "number" else "from and to are no whole numbers"

    @property
    def _counts_tasks(self) -> bool:
        least, most = self.least or 0, self.most or 0
        return self.type == "integer" and least >= 1 and most <= MOST_TASKS


def amount(value: Value) -> str:
    """Return a value for people, without its unit."""
    return value if isinstance(value, str) else f"{value:,}"


def described(parameters: Mapping[str, Value]) -> str:
    """Return parameters in one line, ``records 1,000,000, tasks 1``; '' for none."""
    return ", ".join(f"{name} {amount(value)}" for name, value in parameters.items())
