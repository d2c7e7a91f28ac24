"""The images of a deployment: those that it builds, and those that exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tidemark.model.settings import Settings
from tidemark.model.suite import Suite
from tidemark.model.task import HARNESS, Task


class Image(NamedTuple):
    """The image of one program."""

    program: str
    """The suite, or the suite and its service: ``kiwi/server``."""
    name: str
    """The existing image, with ``{version}`` if each version has one; '' if it is built."""
    dockerfile: str
    """The file that it is built from, below ``workloads/``; '' if it exists or cannot be built."""


def images(suites: Mapping[str, Suite], settings: Settings) -> Iterator[Image]:
    """Yield the image of each program of suites."""
    for suite in suites.values():
        if suite.subject.image and suite.runs_images:
            yield Image(suite.name, suite.subject.image, "")
        else:
            yield image(suite, suite.name, suite.task, settings)
        for name, service in suite.services.items():
            yield image(suite, f"{suite.name}/{name}", service.task, settings)


def image(suite: Suite, program: str, task: Task, settings: Settings) -> Image:
    """Return the image of a program that runs the same image for all versions."""
    named = settings.image(program) or ""
    workload = settings.systems / "workloads" / task.workload
    return Image(program, named, "" if named else _dockerfile(suite, task, workload))


def _dockerfile(suite: Suite, task: Task, workload: Path) -> str:
    """Return the Dockerfile of a suite's image: the workload's own, or a plain one of Python."""
    if (workload / "Dockerfile").is_file():
        return f"{workload.name}/Dockerfile"
    python_alone = task.entry_point[0] == "python" and suite.subject.prepare is None
    return f"{HARNESS.name}/Dockerfile" if python_alone else ""
