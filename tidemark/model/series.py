"""The model of a series: what a log query reads of a test over time."""

from typing import Literal

from tidemark.model.frozen import Frozen
from tidemark.model.name import Name
from tidemark.model.subject import Line

SERIES_COLUMNS = ("@logStream", "at", "value")
"""The columns of a series' query: a value at a time, by log stream."""


class Series(Frozen):
    """A quantity of one test over time, which a chart shows."""

    name: Name
    """The name, in the form of ``active_users``."""
    unit: Line
    """The unit of the values, such as ``users``."""
    query: Name
    """The query: ``<query>.cwli`` beside the suite, or else in ``queries/logs``."""
    statistic: Literal["total", "mean", "max", "min"] = "total"
    """The figure of all log streams that have a value at the same time."""
