"""The model of a series: what a log query reads of a test over time."""

from typing import Literal

from tidemark.model.frozen import Frozen
from tidemark.model.name import Name
from tidemark.model.subject import Line

MORE_SERIES_COLUMNS = ("n",)
"""The column that a series' query may have, too: the number of values that ``value`` is of."""
MOST_POINTS = 600
"""The most points of a series that a trial keeps: 90 minutes have 540 of ten seconds each."""
_PLACE = ("@logStream", "at")


class Series(Frozen):
    """A quantity of one test over time, which a chart shows."""

    name: Name
    """The name, in the form of ``active_users``."""
    unit: Line
    """The unit of the values, such as ``users``."""
    query: Name
    """The query: ``<query>.cwli`` beside the suite, or else in ``queries/logs``."""
    statistic: Literal["total", "mean", "max", "min", "p50", "p90", "p95", "p99"] = "total"
    """The figure of all log streams that have a value at the same time; a quantile is that of the
    [histograms](#histograms) of this time."""

    @property
    def of_histograms(self) -> bool:
        """Whether the query gives histograms, from which a quantile is read."""
        return self.statistic.startswith("p")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the query: a value or a histogram at a time, by log stream."""
        return (*_PLACE, "histogram" if self.of_histograms else "value")
