"""The parameters of a suite: what a run may set beside the versions."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator

from tidemark.model.base import Consistent
from tidemark.model.refusal import Problem, problem
from tidemark.model.sentences import listed, shown
from tidemark.model.subject import Line

Value = int | float | str
TASKS = "tasks"
MOST_TASKS = 200
# Greater whole numbers are not the same in every JSON reader.
_GREATEST = 2**53 - 1
RESERVED = frozenset({
    "address", "artefacts", "began", "cache", "data", "deadline_seconds", "instance", "jars",
    "jobs", "levels", "own", "package", "prepare", "prepared", "profile_hz", "profiler", "ready",
    "ready_log", "results", "seed", "state", "task", "uv", "version",
})  # fmt: skip
"""Names whose ``TIDEMARK_<NAME>`` has another meaning in a task."""
PYTHON = "python"
"""The parameter or axis with the version of the Python that runs the programs of a version."""


def _number(value: object) -> int | float:
    if not isinstance(value, bool) and isinstance(value, int | float) and abs(value) <= _GREATEST:
        return value
    raise ValueError(f"{shown(value)} is not accepted; expected a number up to {_GREATEST:,}")


Number = Annotated[int | float, PlainValidator(_number)]


class Parameter(Consistent):
    """A parameter; tasks get its value as ``TIDEMARK_<NAME>``."""

    model_config = ConfigDict(serialize_by_alias=True)

    type: Literal["integer", "number", "choice"]
    """``integer``, ``number``, or ``choice`` for one of some texts."""
    least: Number | None = Field(default=None, alias="from")
    """The least accepted number; ``integer`` and ``number`` need both bounds."""
    most: Number | None = Field(default=None, alias="to")
    """The greatest accepted number."""
    of: tuple[Line, ...] | None = Field(default=None, min_length=1, max_length=20)
    """The texts of a choice, which needs them."""
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

    def normal(self, value: Value) -> Value:
        """Return an accepted value in its one form: a whole number has no point."""
        return int(value) if isinstance(value, float) and value.is_integer() else value

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

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the fields do not fit the type."""
        if sentence := self._misfit:
            yield Problem((), sentence)
        elif not self.accepts(self.default):
            sentence = f"{shown(self.default)} is not accepted; expected {self.accepted}"
            yield problem(("default",), sentence)

    @property
    def _misfit(self) -> str | None:
        """The field that is missing or too much, as a sentence; None if the fields fit the type."""
        if self.type == "choice":
            fits = self.of is not None and self.least is None and self.most is None
            return None if fits else "a choice has the field `of`, and neither `from` nor `to`"
        if self.of is not None or self.least is None or self.most is None:
            return "a number has the fields `from` and `to`, and no field `of`"
        if self.least > self.most:
            return f"from is {self.least:,}; expected {self.most:,} (to) or less"
        whole = all(isinstance(limit, int) for limit in (self.least, self.most))
        return None if whole or self.type == "number" else "from and to: expected whole numbers"


def amount(value: Value) -> str:
    """Return a value for people, without its unit."""
    return value if isinstance(value, str) else f"{value:,}"


def described(parameters: Mapping[str, Value]) -> str:
    """Return parameters in one line, ``records 1,000,000, tasks 1``; '' for none."""
    return ", ".join(f"{name} {amount(value)}" for name, value in parameters.items())
