"""The figures that a system's own pages publish: ``suites/<name>/published.yaml``."""

import operator
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from tidemark.model.base import NAME, Consistent, Name
from tidemark.model.labels import canonical, figure_name
from tidemark.model.metric import (
    MARGIN,
    SAME_WITHIN,
    Metric,
    Share,
    contradicting_bounds,
)
from tidemark.model.parameters import Combination
from tidemark.model.refusal import Problem, Refused, problem, problems
from tidemark.model.sentences import shown
from tidemark.model.subject import Line
from tidemark.model.suite import Suite, Test

_FILE = "published.yaml"
_Sentence = Annotated[str, Field(min_length=1, max_length=1000)]


def plain_name(heading: str) -> str:
    """Return the letters and digits of a heading in small letters, with a space between words."""
    return " ".join(re.findall(r"[^\W_]+", heading.casefold()))


class PublishedMetric(Consistent):
    """A metric that pages publish; a table has a column for it."""

    test: Name
    """The test that gives the metric."""
    metric: Name
    """The name of the metric, as tables of results have it."""
    means: Line
    """The figure in words, which tells it from similar figures."""
    unit: Line
    direction: Literal["higher", "lower"]
    """The better direction."""
    columns: tuple[Line, ...] = Field(min_length=1, max_length=20)
    """The headings of its column without unit, or of its row beside a column for each version; the
    first one is printed."""
    over: tuple[Line, ...] = Field(default=(), max_length=20, exclude_if=operator.not_)
    """The headings over tables that have this figure alone, in a column for each version."""
    axes: Combination = Field(default={}, exclude_if=operator.not_)
    """The values of axes, such as the database, that the figure is of."""
    margin: Share = MARGIN
    """The least change that counts as slower or faster."""
    same_within: Share = SAME_WITHIN
    """The largest change that counts as the same."""

    @property
    def name(self) -> str:
        """The name of the figure, such as ``supported_users {database: mysql}``."""
        return figure_name(self.metric, "mean", canonical(self.axes))

    @property
    def names(self) -> set[str]:
        """The plain names of its columns."""
        return {plain_name(text) for text in self.columns}

    def of_run(self, number: str) -> "PublishedMetric":
        """Return the metric of one of several runs, whose number is a further axis."""
        return self.model_copy(update={"axes": {**self.axes, "run": number}})

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the bounds do not fit each other."""
        yield from contradicting_bounds(self.margin, self.same_within)


class Publication(Consistent):
    """The figures of one system that no run has to measure."""

    title: Line
    no_runs: _Sentence | None = None
    """The reason why no run measures the system, if none does."""
    figures: tuple[PublishedMetric, ...] = Field(min_length=1, max_length=400)

    def contradictions(self) -> Iterator[Problem]:
        """Yield the columns that two metrics share."""
        known: set[str] = set()
        for number, figure in enumerate(self.figures):
            if twice := sorted(known & figure.names):
                sentence = f"{shown(twice[0])} is a column of two metrics"
                yield problem(("figures", number, "columns"), sentence)
            known |= figure.names
        if len({tuple(figure.axes) for figure in self.figures}) > 1:
            yield problem(
                ("figures",), "the metrics have different axes; expected the same axes for all"
            )

    def metric(self, name: str) -> PublishedMetric | None:
        """Return the metric of a name, None if the pages do not publish it."""
        return next((figure for figure in self.figures if figure.metric == name), None)


def publication_file(systems: Path, suite: str) -> Path:
    """Return the place of the file of a suite's published figures."""
    return systems / "suites" / suite / _FILE


def find_publication(systems: Path, suite: str) -> Publication | None:
    """Return what is published of a suite, None if its folder does not say; refuse a bad file."""
    path = publication_file(systems, suite)
    if not re.fullmatch(NAME, suite) or not path.is_file():
        return None
    # Imported here because the Lambda asset has no YAML parser.
    from tidemark.model.strict_yaml import read_yaml  # noqa: PLC0415

    document = read_yaml(path, f"{suite}/{_FILE}")
    try:
        return Publication.model_validate(document.value)
    except ValidationError as error:
        raise document.refusal(problems(Publication, error)) from None


def measured_publication(suite: Suite) -> Publication:
    """Return the means that a suite measures, as pages may publish them under the metrics' names.

    Raises
    ------
    Refused
        If every metric has labels or other statistics: no column tells what such a figure is.

    """
    means = [
        (test, metric)
        for test in suite.tests
        for metric in test.metrics
        if "mean" in metric.statistics and not metric.labels
    ]
    if not means:
        raise Refused(
            f"--suite: {suite.name} has no metric of means without labels; expected one, or a "
            "published.yaml"
        )
    names = Counter(metric.name for _, metric in means)
    figures = (_mean(test, metric, names[metric.name] > 1) for test, metric in means)
    return Publication(title=suite.title, figures=tuple(figures))


def _mean(test: Test, metric: Metric, is_shared: bool) -> PublishedMetric:
    """Return the mean of a metric; its column names the test if other tests share the name."""
    name = f"{test.name} {metric.name}" if is_shared else metric.name
    return PublishedMetric(
        test=test.name,
        metric=metric.name,
        means=f"mean of {metric.name}",
        unit=metric.unit,
        direction=metric.direction,
        columns=(name.replace("_", " ").capitalize(),),
        margin=metric.margin,
        same_within=metric.same_within,
    )
