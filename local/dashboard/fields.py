"""What visuals show of the columns of data sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cdk.data_sets import INTEGER, DataSet
from local.dashboard.formats import DAY, Format, default_format, read_format
from local.dashboard.node import Node
from suites.refusal import Refused, shown

# What the page works out of a group's values that are not NULL, as in SQL.
_AGGREGATIONS = ("SUM", "AVERAGE", "MIN", "MAX")
_DAYS = {"DAY": 1, "WEEK": 7}
# API reference, CustomColor.
_COLOR = re.compile("#[0-9A-F]{6}")


@dataclass(frozen=True)
class Column:
    """A column of a data set."""

    data_set: str
    name: str


@dataclass(frozen=True)
class Field:
    """What a visual shows of a column."""

    id: str
    column: Column
    label: str
    format: Format
    aggregation: str | None = None
    """What is worked out of the values of a group; None is a value itself."""
    days: int | None = None
    """How far apart its dates are."""
    colors: Mapping[str, str] | None = None
    """The colour of each value that has one of its own; None if none has."""


@dataclass(frozen=True)
class Order:
    """An order by a column."""

    column: str
    aggregation: str | None
    """What is worked out of the values of a group; None is a value itself."""
    descending: bool


class Fields:
    """Reads fields; knows which columns they are of."""

    def __init__(self, data_sets: Mapping[str, DataSet], configurations: Iterable[Node]) -> None:
        self._data_sets = data_sets
        self._formats: dict[Column, Format] = {}
        self._colors: dict[Column, Mapping[str, str]] = {}
        self._used: set[Column] = set()
        for each in configurations:
            column = self._named(each.node("Column"))
            if "FormatConfiguration" in each:
                self._formats[column] = read_format(each.node("FormatConfiguration"))
            if "ColorsConfiguration" in each:
                colors = each.node("ColorsConfiguration").nodes("CustomColors")
                self._colors[column] = dict(map(_color, colors))

    @property
    def used(self) -> Mapping[str, list[str]]:
        """The columns that were asked for, by data set."""
        return {
            name: [column for column in data_set.columns if Column(name, column) in self._used]
            for name, data_set in self._data_sets.items()
        }

    def column(self, node: Node) -> Column:
        """Return the column that a structure names; the page gets its values."""
        column = self._named(node)
        self._used.add(column)
        return column

    def dimension(self, node: Node) -> Field:
        """Return a field that rows are grouped by."""
        kind, field = node.kind("CategoricalDimensionField", "DateDimensionField")
        found = self.field(field)
        if kind == "DateDimensionField":
            # The data sets begin weeks themselves, on Mondays.
            days = _DAYS[field.choice("DateGranularity", *_DAYS)]
            return replace(found, format=DAY, days=days)
        return found

    def measure(self, node: Node) -> Field:
        """Return a field that is worked out of groups of rows."""
        _, field = node.kind("NumericalMeasureField")
        aggregation = _aggregation(field.node("AggregationFunction"))
        found = replace(self.field(field), aggregation=aggregation)
        if aggregation == "AVERAGE" and self._type(found.column) == INTEGER:
            return replace(found, format=replace(found.format, places=None))
        return found

    def field(self, node: Node) -> Field:
        """Return a field that shows the values of its column."""
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
        """Return an order by one of a visual's fields, or by a column that it does not show."""
        kind, sort = node.kind(*kinds)
        descending = sort.choice("Direction", "ASC", "DESC") == "DESC"
        if kind == kinds[0]:
            field = {field.id: field for field in fields}[sort.text("FieldId")]
            return Order(field.column.name, field.aggregation, descending)
        function = sort.node("AggregationFunction").node("NumericalAggregationFunction")
        column = self.column(sort.node("SortBy"))
        return Order(column.name, _aggregation(function), descending)

    def _named(self, node: Node) -> Column:
        return Column(node.text("DataSetIdentifier"), node.text("ColumnName"))

    def _type(self, column: Column) -> str:
        return self._data_sets[column.data_set].columns[column.name]


def _aggregation(function: Node) -> str:
    return function.choice("SimpleNumericalAggregation", *_AGGREGATIONS)


def _color(node: Node) -> tuple[str, str]:
    color = node.text("Color")
    if not _COLOR.fullmatch(color):
        raise Refused(f"{node.place}.Color: {shown(color)} is no colour of the form #0072B2")
    return node.text("FieldValue"), color


def labelled(fields: Iterable[Field], options: Node) -> tuple[Field, ...]:
    """Return fields with the labels that ``FieldOptions`` gives them."""
    labels = {
        each.text("FieldId"): each.text("CustomLabel")
        for each in options.nodes("SelectedFieldOptions")
    }
    return tuple(replace(field, label=labels.get(field.id, field.label)) for field in fields)
