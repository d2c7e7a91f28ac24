"""The model of the dashboard: sheets of visuals over columns of data sets.

QuickSight's definition is written from it, and the page of one machine is drawn from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass

from tidemark.dashboard.data_sets import Column, Format, read_data_set

# The columns that the page needs beside a column, and QuickSight does not: a change is 13.8 times
# as long if less is better, a gain is written as a change, a chart has the changes of level
# of its metric and size and the categories of its labels, and a run is shown with its version.
_NEEDED = {
    **dict.fromkeys(("change", "effect"), ("direction", "unit")),
    "effect_gain": ("direction", "unit", "low", "high"),
    "series": ("rate", "sizes", "labels"),
    "run_id": ("version",),
    "version": ("version_order",),
}


@dataclass(frozen=True)
class Field:
    """A column in a visual, with its label, format and aggregation."""

    id: str
    column: Column
    label: str
    format: Format
    aggregation: str | None = None
    """The aggregation over the values of a group, None for a single value."""
    days: int | None = None
    """The distance between its dates [days]."""
    colors: Mapping[str, str] | None = None
    """The colours of values with a colour of their own, None without any."""


@dataclass(frozen=True)
class Order:
    """An order by a column, which the visual may or may not show."""

    column: Column
    aggregation: str | None = None
    """The aggregation over the values of a group, None for a single value."""
    descending: bool = False


@dataclass(frozen=True)
class Kpi:
    """One figure."""

    value: Field


@dataclass(frozen=True)
class Table:
    """A table with a line for each row."""

    fields: tuple[Field, ...]
    orders: tuple[Order, ...]


@dataclass(frozen=True)
class PivotTable:
    """A table with a line for each group of some fields and a column for each value of another."""

    rows: tuple[Field, ...]
    column: Field
    value: Field
    orders: tuple[Order, ...]
    """The order of each row's values."""
    heat: bool = False
    """Whether the value is a gain that colours its cell: a heat map."""


@dataclass(frozen=True)
class Style:
    """The look of the line of a value."""

    line: bool
    """Whether a line joins the points."""
    dash: str
    """``SOLID`` or ``DOTTED``."""
    markers: bool


@dataclass(frozen=True)
class Axes:
    """The titles of the axes, '' for none."""

    category: str
    value: str
    from_zero: bool
    """Whether the values' axis begins at zero."""


@dataclass(frozen=True)
class Chart:
    """Values by category, in one chart or in a chart for each value of ``panels``."""

    mark: str
    """``line`` or ``bar``."""
    category: Field
    values: tuple[Field, ...]
    color: Field | None
    panels: Field | None
    columns: int
    """The most panels side by side."""
    orders: tuple[Order, ...]
    axes: Axes
    legend: str
    """The title of the legend, '' for none."""
    styles: Mapping[str, Style]
    """The styles of lines, by the id of the value."""
    horizontal: bool = False
    stacked: bool = False
    interval: tuple[Column, ...] = ()
    """The columns of the ends of the values' interval, none without an interval."""


@dataclass(frozen=True)
class Visual:
    """A visual of a sheet."""

    id: str
    title: str
    subtitle: str
    alternative: str
    """The alternative text, for readers who do not see the visual."""
    data_set: str
    shown: Kpi | Table | PivotTable | Chart


@dataclass(frozen=True)
class TextBox:
    """A paragraph of a sheet."""

    id: str
    text: str


@dataclass(frozen=True)
class Source:
    """A control that limits the choices of another control."""

    control: str
    column: Column
    """The column that must have the value of that control."""


@dataclass(frozen=True)
class Control:
    """An input that sets a parameter."""

    id: str
    label: str
    parameter: str
    column: Column | None = None
    """The column with the offered values, None for a control of a day."""
    everything: bool = False
    """Whether the control also offers all values at once."""
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Place:
    """The place and the size of an element in a grid of 36 columns, counted from 0."""

    column: int
    columns: int
    row: int
    rows: int


@dataclass(frozen=True)
class Sheet:
    """A page of the dashboard."""

    id: str
    name: str
    title: str
    controls: Sequence[Control]
    elements: Sequence[tuple[Place, Visual | TextBox]]
    """The visuals and text boxes with their places, in reading order."""

    @property
    def visuals(self) -> list[Visual]:
        """The visuals in reading order."""
        return [each for _, each in self.elements if isinstance(each, Visual)]


@dataclass(frozen=True)
class Filter:
    """A filter of the rows of a data set; rows without a value in the column never pass."""

    column: Column
    equals: str | None = None
    """The value that the column must have."""
    differs: str | None = None
    """The value that the column must not have."""
    parameter: str | None = None
    """The parameter with the value that the column must have; unset, it lets every row pass."""
    since: str | None = None
    """The parameter with the first day."""
    until: str | None = None
    """The parameter with the last day."""


@dataclass(frozen=True)
class FilterGroup:
    """The filters of one data set on a sheet."""

    id: str
    sheet: str
    filters: tuple[Filter, ...]
    visuals: tuple[str, ...] = ()
    """The ids of the filtered visuals, none for all of the sheet."""


@dataclass(frozen=True)
class Dashboard:
    """The whole dashboard."""

    parameters: Mapping[str, str]
    """The first value of each parameter, '' for all values, and a day as ``2000-01-01``."""
    sheets: Sequence[Sheet]
    groups: Sequence[FilterGroup]

    def filters(self, sheet: Sheet, visual: Visual) -> list[Filter]:
        """Return the filters over the data set of a visual."""
        return [
            each
            for group in self.groups
            if group.sheet == sheet.id and visual.id in (group.visuals or (visual.id,))
            for each in group.filters
            if each.column.data_set == visual.data_set
        ]

    def columns(self) -> dict[str, list[str]]:
        """Return the columns of each data set that the page needs, in the order of the data set."""
        used = {*_columns((self.sheets, self.groups))}
        used |= {
            Column(each.data_set, name) for each in used for name in _NEEDED.get(each.name, ())
        }
        data_sets = dict.fromkeys(sorted(each.data_set for each in used))
        return {
            name: [each for each in read_data_set(name).columns if Column(name, each) in used]
            for name in data_sets
        }


def _columns(value: object) -> Iterator[Column]:
    """Yield every column within a value."""
    if isinstance(value, Column):
        yield value
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from _columns(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _columns(getattr(value, field.name))
