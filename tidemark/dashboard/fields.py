"""The fields of visuals over the columns of data sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tidemark.dashboard.data_sets import INTEGER, DataSet
from tidemark.dashboard.formats import DAY, Format, default_format, read_format
from tidemark.dashboard.node import Node
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown

# The aggregations that the page supports; they skip NULL, as in SQL.
_AGGREGATIONS = ("SUM", "AVERAGE", "MIN", "MAX")
_DAYS = {"DAY": 1, "WEEK": 7}
# The columns that the page needs beside a column, and QuickSight does not: a change of which less
# is better is 13.8 times as long, a gain is written as a change, a chart has the changes of level
# of its metric and size and the categories of its labels, and a run is shown with its version.
_NEEDED = {
    **dict.fromkeys(("change", "effect"), ("direction", "unit")),
    "effect_gain": ("direction", "unit", "low", "high"),
    "series": ("rate", "sizes", "labels"),
    "run_id": ("version",),
    "version": ("version_order",),
}
# API reference, CustomColor.
_COLOR = re.compile("#[0-9A-F]{6}")


@dataclass(frozen=True)
class Column:
    """A column of a data set."""

    data_set: str
    name: str


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
    """An order by a column."""

    column: str
    aggregation: str | None
    """The aggregation over the values of a group, None for a single value."""
    descending: bool


class Fields:
    """The reader of fields, which keeps their columns."""

    def __init__(self, data_sets: Mapping[str, DataSet], configurations: Iterable[Node]) -> None:
        self._data_sets = data_sets
        self._formats: dict[Column, Format] = {}
        self._colors: dict[Column, Mapping[str, str]] = {}
        self._used: set[Column] = set()
        for each in configurations:
            column = self._read_column(each.node("Column"))
            if "FormatConfiguration" in each:
                self._formats[column] = read_format(each.node("FormatConfiguration"))
            if "ColorsConfiguration" in each:
                colors = each.node("ColorsConfiguration").nodes("CustomColors")
                self._colors[column] = dict(map(_color, colors))

    @property
    def used(self) -> Mapping[str, list[str]]:
        """The columns that were read, by data set, and those that the page needs to write them."""
        needed = {
            Column(each.data_set, name)
            for each in self._used
            for name in _NEEDED.get(each.name, ())
        }
        return {
            name: [
                column for column in data_set.columns if Column(name, column) in self._used | needed
            ]
            for name, data_set in self._data_sets.items()
        }

    def column(self, node: Node) -> Column:
        """Return the column that a structure names, and mark it as used."""
        column = self._read_column(node)
        self._used.add(column)
        return column

    def dimension(self, node: Node) -> Field:
        """Return a field that groups rows."""
        kind, field = node.kind("CategoricalDimensionField", "DateDimensionField")
        dimension = self.field(field)
        if kind == "DateDimensionField":
            # The data sets already give each week its Monday.
            days = _DAYS[field.choice("DateGranularity", *_DAYS)]
            return replace(dimension, format=DAY, days=days)
        return dimension

    def measure(self, node: Node) -> Field:
        """Return a field that aggregates groups of rows."""
        _, field = node.kind("NumericalMeasureField")
        aggregation = _aggregation(field.node("AggregationFunction"))
        measure = replace(self.field(field), aggregation=aggregation)
        if aggregation == "AVERAGE" and self._type(measure.column) == INTEGER:
            return replace(measure, format=replace(measure.format, places=None))
        return measure

    def field(self, node: Node) -> Field:
        """Return a field with the values of its column."""
        column = self.column(node.node("Column"))
        format_ = self._formats.get(column) or default_format(self._type(column))
        if "FormatConfiguration" in node:
            format_ = read_format(node.node("FormatConfiguration"))
        if self._type(column) == INTEGER and format_.places is None:
            format_ = replace(format_, places=0)
        label = column.name.replace("_", " ").capitalize()
        colors = self._colors.get(column)
        return Field(node.text("FieldId"), column, label, format_, colors=colors)

    def order(
        self,
        node: Node,
        fields: Iterable[Field],
        kinds: tuple[str, str] = ("FieldSort", "ColumnSort"),
    ) -> Order:
        """Return an order by a field of a visual, or by a column that the visual does not show."""
        kind, sort = node.kind(*kinds)
        descending = sort.choice("Direction", "ASC", "DESC") == "DESC"
        if kind == kinds[0]:
            field = {field.id: field for field in fields}[sort.text("FieldId")]
            return Order(field.column.name, field.aggregation, descending)
        function = sort.node("AggregationFunction").node("NumericalAggregationFunction")
        column = self.column(sort.node("SortBy"))
        return Order(column.name, _aggregation(function), descending)

    def _read_column(self, node: Node) -> Column:
        return Column(node.text("DataSetIdentifier"), node.text("ColumnName"))

    def _type(self, column: Column) -> str:
        return self._data_sets[column.data_set].columns[column.name]


def _aggregation(function: Node) -> str:
    return function.choice("SimpleNumericalAggregation", *_AGGREGATIONS)


def _color(node: Node) -> tuple[str, str]:
    color = node.text("Color")
    if not _COLOR.fullmatch(color):
        raise Refused(f"{node.place}.Color: {shown(color)} is not a colour of the form #0072B2")
    return node.text("FieldValue"), color


def with_labels(fields: Iterable[Field], options: Node) -> tuple[Field, ...]:
    """Return fields with their labels from ``FieldOptions``."""
    labels = {
        each.text("FieldId"): each.text("CustomLabel")
        for each in options.nodes("SelectedFieldOptions")
    }
    return tuple(replace(field, label=labels.get(field.id, field.label)) for field in fields)
