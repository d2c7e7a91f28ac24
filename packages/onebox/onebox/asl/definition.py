"""The definition of a state machine in the Amazon States Language: its models, read and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_pascal

from onebox.asl.errors import ALL
from onebox.asl.jsonata import Template, is_expression
from onebox.asl.payload import Json, parse

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


class InvalidDefinition(ValueError):
    """A definition that breaks the language or uses a part that is not supported here."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        text = ", ".join(f"SCHEMA_VALIDATION_FAILED: {problem}" for problem in problems)
        super().__init__(f"Invalid State Machine Definition: '{text}'")


def read_definition(text: str, resources: Collection[str]) -> StateMachine:
    """
    Return the state machine of a definition.

    Parameters
    ----------
    text
        The definition: JSON in the Amazon States Language, with JSONata as its QueryLanguage.
    resources
        The Task resources that have an integration.

    Raises
    ------
    InvalidDefinition
        If the definition has problems. The message names each problem with the path of its field:
        all problems of form or, if there are none, all problems of meaning, such as a Next that
        names no state.
    """
    try:
        parse(text)  # stricter than pydantic: refuses duplicate keys and NaN
        machine = StateMachine.model_validate_json(text)
    except ValidationError as error:
        raise InvalidDefinition([_sentence(problem) for problem in error.errors()]) from error
    except ValueError as error:
        raise InvalidDefinition([f"the definition is not JSON: {error}"]) from error
    names = [name for level in _levels(machine) for name in level.states]
    problems = [
        *(f"the state name {name!r} is used twice" for name in names if names.count(name) > 1),
        *_problems(machine, "", frozenset(), resources),
    ]
    if problems:
        raise InvalidDefinition(list(dict.fromkeys(problems)))
    return machine


def _sentence(problem: Any) -> str:  # noqa: ANN401 (pydantic's ErrorDetails)
    if problem["type"] == "extra_forbidden":
        message = "this field is not supported"
    else:
        message = problem["msg"].removeprefix("Value error, ")
    return f"{message} at {_path(problem['loc'])}"


def _path(location: tuple[str | int, ...]) -> str:
    # pydantic puts the Type that chose the model behind the name of a state.
    fields = [
        part for index, part in enumerate(location) if index < 2 or location[index - 2] != "States"
    ]
    return "/" + "/".join(map(str, fields))


def _levels(machine: Machine) -> Iterator[Machine]:
    yield machine
    for state in machine.states.values():
        if isinstance(state, Map):
            yield from _levels(state.item_processor)


def _problems(
    machine: Machine, path: str, outer: frozenset[str], resources: Collection[str]
) -> Iterator[str]:
    if machine.start_at not in machine.states:
        yield f"there is no state {machine.start_at!r} at {path}/StartAt"
    reachable = _reachable(machine)
    variables = frozenset(
        name for state in machine.states.values() for name in _assigned_variables(state)
    )
    for name in sorted(variables & outer):
        yield f"the variable {name!r} belongs to the machine around {path or '/'}"
    for name, state in machine.states.items():
        here = f"{path}/States/{name}"
        if name not in reachable:
            yield f"no other state leads to {here}"
        for target in _targets(state):
            if target not in machine.states:
                yield f"there is no next state {target!r} at {here}"
        if isinstance(state, Handled):
            yield from _problems_of_handling(state, here)
        if isinstance(state, Task) and state.resource not in resources:
            accepted = ", ".join(sorted(resources))
            yield f"the resource {state.resource!r} is not one of {accepted} at {here}/Resource"
        if isinstance(state, Map):
            yield from _problems(
                state.item_processor, f"{here}/ItemProcessor", outer | variables, resources
            )


def _problems_of_handling(state: Handled, path: str) -> Iterator[str]:
    for field, lists in (
        ("Retry", [retrier.error_equals for retrier in state.retry]),
        ("Catch", [catcher.error_equals for catcher in state.catch]),
    ):
        for index, names in enumerate(lists):
            if ALL in names and (len(names) > 1 or index < len(lists) - 1):
                yield f"{ALL} must be alone and last at {path}/{field}/{index}/ErrorEquals"


def _reachable(machine: Machine) -> set[str]:
    reached, pending = set[str](), [machine.start_at]
    while pending:
        name = pending.pop()
        if name in machine.states and name not in reached:
            reached.add(name)
            pending.extend(_targets(machine.states[name]))
    return reached


def _results(state: State) -> Iterator[Result]:
    if isinstance(state, Result):
        yield state
    if isinstance(state, Choice):
        yield from state.choices
    if isinstance(state, Handled):
        yield from state.catch


def _targets(state: State) -> Iterator[str]:
    return filter(None, (result.next for result in _results(state)))


def _assigned_variables(state: State) -> Iterator[str]:
    for result in _results(state):
        if isinstance(result.assign.source, dict):
            yield from result.assign.source
