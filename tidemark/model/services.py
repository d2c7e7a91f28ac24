"""The services of a suite: programs that run while a test runs, and that its tasks talk to."""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from tidemark.model.base import Consistent, Frozen, Name
from tidemark.model.refusal import Place, Problem, form, mapping, not_one, problem
from tidemark.model.sentences import listed, shown
from tidemark.model.subject import IMAGE_NAME, Line, VersionText
from tidemark.model.task import LEAST_MEMORY, MOST_MEMORY, CpuUnits, Task

_Task = TypeVar("_Task", bound=Task)

SIZE = "size"
"""The axis whose values are the names of sizes."""
UNITS_OF_VCPU = 1024
# Amazon ECS developer guide, "Task definition parameters for Fargate: Task size": CPU units, and
# the memory that they may have [MiB].
_GIB = 1024
_FARGATE: Mapping[int, Sequence[int]] = {
    256: (_GIB // 2, _GIB, 2 * _GIB),
    512: range(_GIB, 4 * _GIB + 1, _GIB),
    1024: range(2 * _GIB, 8 * _GIB + 1, _GIB),
    2048: range(4 * _GIB, 16 * _GIB + 1, _GIB),
    4096: range(8 * _GIB, 30 * _GIB + 1, _GIB),
    8192: range(16 * _GIB, 60 * _GIB + 1, 4 * _GIB),
    16384: range(32 * _GIB, 120 * _GIB + 1, 8 * _GIB),
}


class Size(Frozen):
    """The CPU and memory of a service under one value of the axis ``size``."""

    cpu: CpuUnits
    """CPU units, as for a task: 1024 are one vCPU."""
    memory: int | None = Field(
        default=None, strict=True, ge=LEAST_MEMORY, le=MOST_MEMORY, exclude_if=operator.not_
    )
    """Memory [MiB], by default as for the service's task, which one machine does not limit."""

    def of(self, task: _Task) -> _Task:
        """Return a task with this size."""
        memory = self.memory or task.memory
        return task.model_copy(update={"cpu": self.cpu, "memory": memory})

    @property
    def text(self) -> str:
        """The size for people, such as ``0.5 vCPU and 1,024 MiB``."""
        memory = f" and {self.memory:,} MiB" if self.memory else ""
        return f"{self.cpu / UNITS_OF_VCPU:g} vCPU{memory}"


def missized_tasks(suite: object) -> Iterator[Problem]:
    """Yield the tasks of a suite, and of its services, whose memory Fargate does not have."""
    tasks: dict[Place, object] = {("task",): mapping(suite, "task")}
    for name, service in mapping(suite, "services").items():
        tasks["services", name, "task"] = mapping(service, "task")
    for place, task in tasks.items():
        cpu, memory = mapping(task).get("cpu"), mapping(task).get("memory")
        if type(cpu) is type(memory) is int and cpu in _FARGATE:
            yield from _unlike_fargate((*place, "memory"), cpu, memory)


def _unlike_fargate(place: Place, cpu: int, memory: int) -> Iterator[Problem]:
    accepted = _FARGATE[cpu]
    if memory not in accepted:
        sentence = f"{memory:,} MiB are not accepted for {cpu} CPU units"
        few = f"{accepted[0]:,}, {accepted[1]:,} and so on up to {accepted[-1]:,} MiB"
        yield problem(place, f"{sentence}; Fargate has {few}")


def unlike_axis(suite: object, services: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the services whose sizes or containers are not of the values of the suite's axes."""
    values = mapping(suite, "axes").get(SIZE)
    wanted = values if isinstance(values, Sequence) else ()
    for name in services:
        sizes = mapping(services, name).get("sizes")
        if sizes and isinstance(sizes, dict) and {*sizes} != {*wanted}:
            expected = f"the values of the axis {SIZE}: {listed(map(str, wanted)) or 'none'}"
            sentence = f"there are {listed(map(str, sizes))}; expected {expected}"
            yield problem(("services", name, "sizes"), sentence)
        for each, container in mapping(mapping(services, name), "task", "beside").items():
            for axis, value in mapping(container, "under").items():
                known = mapping(suite, "axes").get(axis)
                if not isinstance(known, Sequence) or value not in known:
                    place = ("services", name, "task", "beside", each, "under")
                    expected = listed(map(str, known)) if known else "an axis of the suite"
                    yield problem(place, f"{axis} has no {shown(value)}; expected {expected}")


MOST_SERVICES = 8
MOST_CONTAINERS = 5
# The harness prints a line as soon as the service in its container takes requests.
READY_QUERY = "ready"
READY_VARIABLE = "TIDEMARK_READY"
"""The variable that services have, and no other task: the sign that they take requests."""
READY_LOG_VARIABLE = "TIDEMARK_READY_LOG"
"""The variable of services that also log a text as soon as they take requests."""
LAST_LINES_QUERY = "last_lines"
READY_SECONDS = 300
LONGEST_START_SECONDS = 3_600
# ECS kills a container 30 s after it was asked to stop.
LONGEST_STOP_SECONDS = 300
# The first ports need a superuser, which no task on one machine is.
_LEAST_PORT, _MOST_PORT = 1024, 65_535
# RFC 3986, section 3: a path and a query, without a fragment.
_HTTP = form(
    r"^:[1-9][0-9]{3,4}/[A-Za-z0-9._~!$&'()*+,;=:@/?%-]{0,200}$",
    "a port and a path, such as :8080/health",
)
_VARIABLE = form(r"^[A-Z][A-Z0-9_]{0,79}$", "a name of capital letters, digits and _")
_IMAGE = form(
    rf"^{IMAGE_NAME}:[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}}$",
    "an image with its tag, such as postgres:17.5",
)
# The questions whether a service is ready, or has stopped, follow each other after a quarter of the
# time so far: 1 s at first and 30 s at last.
_LONGEST_PAUSE_SECONDS = 30
_QUESTIONS_WITH_SHORTER_PAUSES = 18


class Ready(Consistent):
    """The sign that a service takes requests: a port or a path, exactly one, and perhaps a line."""

    port: int | None = Field(default=None, strict=True, ge=_LEAST_PORT, le=_MOST_PORT)
    """The port, 1,024 to 65,535, at which it accepts connections."""
    http: str | None = Field(default=None, pattern=_HTTP)
    """The port and path, such as ``:8080/health``, which it answers with a status below 400."""
    log: Line | None = Field(default=None, max_length=200, exclude_if=operator.not_)
    """A text in one of its log lines, such as ``ready to accept connections``, beside the other
    sign: the service is not asked before it has logged the text."""

    @property
    def text(self) -> str:
        """The sign for people."""
        line = "" if self.log is None else f", after a line with {shown(self.log)},"
        return f"{self.address}{line}"

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of the service that hold the sign."""
        line = {} if self.log is None else {READY_LOG_VARIABLE: self.log}
        return {READY_VARIABLE: self.address, **line}

    @property
    def address(self) -> str:
        """The port, and the path if there is one: ``:8080`` or ``:8080/health``."""
        return self.http or f":{self.port}"

    @property
    def open_port(self) -> int:
        """The port that the tasks of the test connect to."""
        return self.port or int(self.address[1:].split("/")[0])

    def contradictions(self) -> Iterator[Problem]:
        """Yield why there is no one sign, or why its port is none."""
        given = [name for name in ("port", "http") if getattr(self, name) is not None]
        if len(given) != 1:
            yield from not_one(given, ("port", "http"), "sign")
        elif not _LEAST_PORT <= self.open_port <= _MOST_PORT:
            sentence = f"the port {self.open_port} is not accepted"
            yield problem(("http",), f"{sentence}; expected {_LEAST_PORT} to {_MOST_PORT}")


class Container(Frozen):
    """A container beside the program of a service: both have one task, and one loopback."""

    image: str | None = Field(default=None, pattern=_IMAGE, max_length=255)
    """Its image with a tag, such as ``postgres:17.5``, by default the image of the version."""
    command: tuple[Line, ...] = Field(default=(), max_length=20)
    """The arguments of the image's own entry point, by default its own."""
    environment: dict[Annotated[str, Field(pattern=_VARIABLE)], Line] = Field(
        default={}, max_length=50
    )
    """Its environment variables; there are no others."""
    under: dict[Name, VersionText] = Field(default={}, exclude_if=operator.not_)
    """The values of axes under which the task has it, such as ``{database: mysql}``, by default
    all."""


class ServiceTask(Task):
    """The ECS task of a service."""

    workload: Name
    """``workloads/<workload>/``: the program, and a Dockerfile if an image needs more than Python.
    It finds the version that is measured as the tests' own tasks do."""
    entry_point: tuple[Line, ...] = Field(min_length=1, max_length=20)
    """The start of the program's command line."""
    beside: dict[Name, Container] = Field(
        default={}, max_length=MOST_CONTAINERS, exclude_if=operator.not_
    )
    """The containers of images beside the program, by name: the end of one of them is the end of
    all. Only an AWS account has them."""

    @property
    def versioned(self) -> list[str]:
        """The containers that run the image of the version."""
        return [name for name, container in self.beside.items() if container.image is None]

    def beside_under(self, axes: Mapping[str, str]) -> list[str]:
        """Return the containers beside the program under some values of axes."""
        return [name for name, each in self.beside.items() if each.under.items() <= axes.items()]


class Service(Consistent):
    """A program that runs while a test runs."""

    task: ServiceTask
    """The ECS task of its own that it runs in."""
    command: tuple[Line, ...] = Field(
        default=(), min_length=1, max_length=20, exclude_if=operator.not_
    )
    """The arguments of the program, by default the name of the service."""
    ready: Ready
    """The sign that it takes requests."""
    within_seconds: int = Field(default=READY_SECONDS, strict=True, ge=1, le=LONGEST_START_SECONDS)
    """The time after which a service that is not ready fails the test, 1 to 3,600 [s]."""

    sizes: dict[VersionText, Size] = Field(default={}, max_length=20, exclude_if=operator.not_)
    """The [size](#sizes) of the task under each value of the axis ``size``."""

    @property
    def questions(self) -> int:
        """The most questions whether the service is ready."""
        return questions_within(self.within_seconds)

    def size(self, axes: Mapping[str, str]) -> Size | None:
        """Return the size under some values of axes; None if it is the size of the task."""
        return self.sizes.get(axes.get(SIZE, ""))

    def task_under(self, axes: Mapping[str, str]) -> ServiceTask:
        """Return the task under some values of axes."""
        size = self.size(axes)
        return size.of(self.task) if size else self.task

    def contradictions(self) -> Iterator[Problem]:
        """Yield the sizes that Fargate does not have."""
        for value, size in self.sizes.items():
            sized = size.of(self.task)
            yield from _unlike_fargate(("sizes", value, "memory"), sized.cpu, sized.memory)


def pause_seconds(waited: float) -> int:
    """Return the pause before the next question after a wait of some seconds [s]."""
    return max(1, min(_LONGEST_PAUSE_SECONDS, int(waited // 4)))


def questions_within(seconds: float) -> int:
    """Return how often a service is asked for at most in a wait of some seconds."""
    return math.ceil(seconds / _LONGEST_PAUSE_SECONDS) + _QUESTIONS_WITH_SHORTER_PAUSES
