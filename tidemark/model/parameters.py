"""The parameters and axes of a suite: what a run may set, and vary, beside the versions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainValidator

from tidemark.model.base import Consistent
from tidemark.model.refusal import Problem, Refused, problem
from tidemark.model.sentences import listed, shown, there_are
from tidemark.model.subject import Line, VersionText

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


# CloudWatch knows a figure by stack, suite, test and version; tasks and records are short for
# parameters.
NO_AXES = RESERVED | {"records", "stack", "suite", "tasks", "test"}
"""Names that have another meaning in tasks, in figures or in the input of a run."""
MOST_AXES = 4
MOST_COMBINATIONS = 50


def _text(value: object) -> object:
    """Return a value; YAML reads words such as on, and digits, as other values than texts."""
    if isinstance(value, bool | int | float):
        raise ValueError(f"{shown(value)} is not text; write the value in quotes")
    return value


Text = Annotated[VersionText, BeforeValidator(_text)]
Axis = Annotated[tuple[Text, ...], Field(min_length=1, max_length=20)]
MaybeAxis = Annotated[tuple[Text, ...], Field(max_length=20)]
"""The values of an axis; none leaves it out of a run."""
Axes = Mapping[str, Sequence[str]]
Combination = dict[str, str]
"""A value of each axis, by the axis's name; empty for a suite without axes."""


def combinations(axes: Axes) -> list[Combination]:
    """Return every combination of values; a single empty one without axes."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def count(axes: Axes) -> int:
    """Return the number of combinations."""
    return prod(map(len, axes.values()))


def narrowed(suite: str, declared: Axes, wanted: Axes) -> dict[str, tuple[str, ...]]:
    """Return the axes of a suite with the wanted values alone, in the order of the suite.

    An axis without a wanted value is left out.

    Raises
    ------
    Refused
        If the suite has no such axis, or an axis no such value.

    """
    for name, values in wanted.items():
        if name not in declared:
            known = there_are(declared, name)
            if not declared:
                known = "the suite declares no axes; leave it out"
            raise Refused(f"axes: {suite} has no {shown(name)}; {known}")
        if other := [value for value in values if value not in declared[name]]:
            expected = f"expected one or more of {listed(declared[name])}"
            raise Refused(f"axes.{name}: {shown(other[0])} is not accepted; {expected}")
        if len(set(values)) < len(values):
            raise Refused(f"axes.{name}: a value is given twice in {listed(values)}")
    return {
        name: tuple(value for value in values if value in wanted.get(name, values))
        for name, values in declared.items()
        if wanted.get(name, values)
    }


def varied(axes: Axes) -> str:
    """Return axes as the end of a sentence, `` for each database (a, b)``; '' for none."""
    names = (f"{name} ({listed(values)})" for name, values in axes.items())
    return f" for each {' and '.join(names)}" if axes else ""
