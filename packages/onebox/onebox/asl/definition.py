"""The models of a state machine in the Amazon States Language: its states and their fields."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    model_validator,
)
from pydantic.alias_generators import to_pascal

from onebox.asl.jsonata import Template, is_expression
from onebox.asl.payload import Json

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")


def _template(value: Json) -> Template:
    template = Template(value)
    if problems := "; ".join(template.problems()):
        raise ValueError(problems)
    return template


def _assignments(value: Json) -> Template:
    if not isinstance(value, dict):
        raise ValueError("an object of variables is expected")
    for name in value:
        if not _VARIABLE.fullmatch(name) or name == "states":
            raise ValueError(f"{name!r} is not a valid variable name")
    return _template(value)


def _or_expression(description: str, accepts: Callable[[Json], bool]) -> PlainValidator:
    def read(value: Json) -> Template:
        if not is_expression(value) and not accepts(value):
            raise ValueError(f"{description} or an expression is expected, not {value!r}")
        return _template(value)

    return PlainValidator(read)


def _whole(least: int) -> PlainValidator:
    def accepts(value: Json) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= least

    return _or_expression(f"a whole number from {least}", accepts)


AnyValue: TypeAlias = Annotated[Template | None, PlainValidator(_template)]
Assignments: TypeAlias = Annotated[Template, PlainValidator(_assignments)]
Text: TypeAlias = Annotated[
    Template, _or_expression("a string", lambda value: isinstance(value, str))
]
Truth: TypeAlias = Annotated[
    Template, _or_expression("true, false", lambda value: isinstance(value, bool))
]
Count: TypeAlias = Annotated[Template, _whole(0)]
Seconds: TypeAlias = Annotated[int, Field(ge=1)]
Errors: TypeAlias = Annotated[tuple[str, ...], Field(min_length=1)]


class _Fields(BaseModel):
    """An object of the language with exactly these fields, in Pascal case, and a Comment."""

    model_config = ConfigDict(alias_generator=to_pascal, extra="forbid", frozen=True, strict=True)

    comment: str = ""


class Result(_Fields):
    """The result of a state: its variables, its output and the next state, if any."""

    assign: Assignments = Template({})
    output: AnyValue = None  # None keeps the output of the state
    next: str | None = None


class Onward(Result):
    """A result with either ``Next`` or ``End``."""

    end: Literal[True] | None = None

    @model_validator(mode="after")
    def _check_next_or_end(self) -> Onward:
        if (self.next is None) == (self.end is None):
            raise ValueError("either Next or End is expected")
        return self


class Retrier(_Fields):
    """The rule for repeating a failed state: its errors, attempts and delays."""

    error_equals: Errors
    interval_seconds: Seconds = 1
    max_attempts: Annotated[int, Field(ge=0)] = 3
    backoff_rate: Annotated[float, Field(ge=1)] = 2.0
    max_delay_seconds: Seconds | None = None
    jitter_strategy: Literal["FULL", "NONE"] = "NONE"

    def delay(self, attempt: int) -> float:
        """Return the seconds before repetition ``attempt``, counted from 0, without jitter."""
        longest = math.inf if self.max_delay_seconds is None else self.max_delay_seconds
        return min(self.interval_seconds * self.backoff_rate**attempt, longest)


class Catcher(Result):
    """The rule for the state that follows a failed state."""

    error_equals: Errors
    next: str


class Rule(Result):
    """One alternative of a Choice."""

    condition: Truth
    next: str


class Handled(Onward):
    """A state whose errors may be retried and caught."""

    retry: tuple[Retrier, ...] = ()
    catch: tuple[Catcher, ...] = ()


class Pass(Onward):
    """A state that passes on its input or its Output."""

    type: Literal["Pass"]


class Wait(Onward):
    """A state that waits for its Seconds."""

    type: Literal["Wait"]
    seconds: Count


class Choice(Result):
    """A state that follows the first rule that holds, else its Default."""

    type: Literal["Choice"]
    choices: Annotated[tuple[Rule, ...], Field(min_length=1)]
    next: str | None = Field(default=None, alias="Default")


class Succeed(_Fields):
    """A state that ends its machine successfully."""

    type: Literal["Succeed"]
    output: AnyValue = None
    assign: ClassVar[Template] = Template({})
    next: ClassVar[None] = None


class Fail(_Fields):
    """A state that ends its machine with an error."""

    type: Literal["Fail"]
    error: Text
    cause: Text = Template("")


class Task(Handled):
    """A state that calls the integration of its Resource."""

    type: Literal["Task"]
    resource: str
    arguments: AnyValue = None
    timeout_seconds: Annotated[Template | None, _whole(1)] = None


class Map(Handled):
    """A state that runs a machine for each item of an array."""

    type: Literal["Map"]
    items: AnyValue = None
    item_selector: AnyValue = None
    max_concurrency: Count = Template(0)
    item_processor: Processor


State: TypeAlias = Annotated[
    Pass | Wait | Choice | Succeed | Fail | Task | Map, Field(discriminator="type")
]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=80)]


class Machine(_Fields):
    """The states of a machine and the name of the first one."""

    start_at: str
    states: dict[Name, State]


class _Inline(_Fields):
    mode: Literal["INLINE"]


class Processor(Machine):
    """The machine that a Map runs for each item."""

    processor_config: _Inline = _Inline.model_construct()


class StateMachine(Machine):
    """The complete definition of a state machine."""

    query_language: Literal["JSONata"]
    timeout_seconds: Seconds | None = None
