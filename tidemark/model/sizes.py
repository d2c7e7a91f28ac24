"""The sizes of a service: the CPU and memory that it has under each value of the axis ``size``."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import Field

from tidemark.model.base import Frozen
from tidemark.model.refusal import Problem, mapping, problem
from tidemark.model.sentences import listed
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
    """CPU units, as those of a task: 1024 are one vCPU."""
    memory: int | None = Field(
        default=None, strict=True, ge=LEAST_MEMORY, le=MOST_MEMORY, exclude_if=operator.not_
    )
    """Memory [MiB], by default that of the service's task, which one machine does not limit."""

    def of(self, task: _Task) -> _Task:
        """Return a task with this size."""
        memory = self.memory or task.memory
        return task.model_copy(update={"cpu": self.cpu, "memory": memory})

    @property
    def text(self) -> str:
        """The size for people, such as ``0.5 vCPU and 1,024 MiB``."""
        memory = f" and {self.memory:,} MiB" if self.memory else ""
        return f"{self.cpu / UNITS_OF_VCPU:g} vCPU{memory}"


def missized(name: str, task: Task, sizes: Mapping[str, Size]) -> Iterator[Problem]:
    """Yield the sizes of a service that Fargate does not have."""
    for value, size in sizes.items():
        sized = size.of(task)
        accepted = _FARGATE[sized.cpu]
        if sized.memory not in accepted:
            sentence = f"{sized.memory:,} MiB are not accepted for {sized.cpu} CPU units"
            few = f"{accepted[0]:,}, {accepted[1]:,} and so on up to {accepted[-1]:,} MiB"
            yield problem((name, value, "memory"), f"{sentence}; Fargate has {few}")


def unlike_axis(suite: object, services: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the services whose sizes are not those of the suite's axis."""
    values = mapping(suite, "axes").get(SIZE)
    wanted = values if isinstance(values, Sequence) else ()
    for name in services:
        sizes = mapping(services, name).get("sizes")
        if sizes and isinstance(sizes, dict) and {*sizes} != {*wanted}:
            expected = f"the values of the axis {SIZE}: {listed(map(str, wanted)) or 'none'}"
            sentence = f"there are {listed(map(str, sizes))}; expected {expected}"
            yield problem(("services", name, "sizes"), sentence)
