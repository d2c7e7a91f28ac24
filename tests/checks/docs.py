"""Tables of ``docs/`` that are generated from models: ``python -m tests.checks.docs``."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tidemark.model.checkout import ROOT
from tidemark.model.instance import Instance, InstanceName
from tidemark.model.load import Bounds, Feedback, Load, Plateaus
from tidemark.model.metric import Metric, Series
from tidemark.model.parameters import Parameter
from tidemark.model.request import ResumeRequest, RunRequest
from tidemark.model.services import Container, Ready, Service, ServiceTask, Size
from tidemark.model.settings import Settings
from tidemark.model.steps import FindTasks, Invoke, Pause, RunCommand, RunTasks, Step, WaitUntil
from tidemark.model.subject import MavenBuild, Subject
from tidemark.model.suite import Defaults, Suite, Test
from tidemark.model.task import Artefact, Task
from tidemark.report.comparison.document import ComparedMetric, ComparisonDocument, SaidComment

SUITES = ROOT / "docs" / "suites"
PAGES: dict[Path, tuple[type[BaseModel], ...]] = {
    ROOT / "docs" / "input.md": (RunRequest, ResumeRequest),
    ROOT / "docs" / "deploy.md": (Settings,),
    ROOT / "docs" / "pipelines.md": (ComparisonDocument, ComparedMetric, SaidComment),
    SUITES / "versions.md": (
        Subject,
        MavenBuild,
    ),
    SUITES / "instance.md": (
        Instance,
        InstanceName,
    ),
    SUITES / "file.md": (
        Suite,
        Task,
        Defaults,
        Parameter,
        Artefact,
    ),
    SUITES / "tests.md": (
        Test,
        Step,
        RunTasks,
        RunCommand,
        Invoke,
        WaitUntil,
        Pause,
        FindTasks,
    ),
    SUITES / "load.md": (
        Load,
        Plateaus,
        Feedback,
        Bounds,
    ),
    SUITES / "services.md": (
        Service,
        ServiceTask,
        Container,
        Ready,
        Size,
    ),
    SUITES / "metrics.md": (
        Metric,
        Series,
    ),
}
"""The models of each page, whose tables stand between comments with the model's name."""


def generated(page: str, models: tuple[type[BaseModel], ...], *, defaults: bool) -> str:
    """Return a page with the table of each model between the comments of that model."""
    for model in models:
        page = with_part(page, model.__name__, table(model, defaults=defaults))
    return page


def with_part(page: str, name: str, text: str) -> str:
    """Return a page with a text between the comments that name a generated part."""
    begin, end = f"<!-- {name}: generated -->\n", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    assert found, f"no comments {begin.strip()} and {end}"
    return f"{before}{begin}{text}{end}{after}"


def write_part(page: str, name: str, text: str) -> None:
    """Write a text into a page of ``docs/``, between the comments that name its part."""
    path = ROOT / "docs" / page
    path.write_text(with_part(path.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def table(model: type[BaseModel], *, defaults: bool = False) -> str:
    """Return the fields of a model as a Markdown table: name, default and attribute docstring."""
    parents = [each for each in reversed(model.__mro__) if each.__module__.startswith("tidemark.")]
    texts = {name: text for each in parents for name, text in _docstrings(each)}
    rows = (
        (f"`{field.alias or name}`", *([_default(field)] if defaults else []), _cell(texts[name]))
        for name, field in model.model_fields.items()
    )
    columns = ("field", *(["default"] if defaults else []), "meaning")
    head = f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _default(field: FieldInfo) -> str:
    """Return the default of a field as YAML has it, or whether the field is required."""
    if field.is_required():
        return "**required**"
    if field.default_factory or field.default in (None, "", (), {}):
        return "optional"
    default = [*field.default] if isinstance(field.default, tuple) else field.default
    return f"`{json.dumps(default).replace(chr(34), '')}`"


def _docstrings(model: type) -> Iterator[tuple[str, str]]:
    """Yield each field of a class and the docstring below the field.

    Pydantic's ``use_attribute_docstrings`` reads the source at every import, which would make
    the start of ``PlanRun`` some 30 ms longer.
    """
    (definition,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(definition, ast.ClassDef)
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(docstring))),
            ):
                yield name, docstring


def _cell(docstring: str) -> str:
    """Return a docstring on one line, in Markdown."""
    return re.sub(r"\s+", " ", docstring).replace("``", "`").replace("|", r"\|")


def write() -> None:
    """Write the tables into their pages."""
    for path, models in PAGES.items():
        page = path.read_text(encoding="utf-8")
        path.write_text(generated(page, models, defaults=path.parent == SUITES), encoding="utf-8")


if __name__ == "__main__":
    write()
