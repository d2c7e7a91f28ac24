"""The choices of a reader of the dashboard: parameters, their controls and the filters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.dashboard.fields import Column, Fields
from tidemark.dashboard.node import Node

EVERYTHING = ""
"""The value of a parameter that is not set."""
_DATE = 10  # characters of a day in ISO 8601


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
class Source:
    """A control that limits the choices of another control."""

    control: str
    column: str
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


def read_parameters(nodes: Iterable[Node]) -> dict[str, str]:
    """Return the first value of each parameter."""
    return dict(map(_parameter, nodes))


def _parameter(node: Node) -> tuple[str, str]:
    kind, declared = node.kind("StringParameterDeclaration", "DateTimeParameterDeclaration")
    # A reader chooses one value or all of them; QuickSight also allows several values.
    declared.must_be("ParameterValueType", "SINGLE_VALUED", "MULTI_VALUED")
    declared.must_be("TimeGranularity", "DAY")
    declared.node("ValueWhenUnset").must_be("ValueWhenUnsetOption", "RECOMMENDED_VALUE")
    values = declared.node("DefaultValues").texts("StaticValues")
    first = values[0] if values else EVERYTHING
    return declared.text("Name"), first[:_DATE] if kind.startswith("DateTime") else first


def read_filter(node: Node, fields: Fields) -> Filter:
    """Return a filter of the page."""
    kind, structure = node.kind("CategoryFilter", "TimeRangeFilter")
    structure.skip("FilterId")
    column = fields.column(structure.node("Column"))
    if kind == "TimeRangeFilter":
        structure.must_be("IncludeMinimum", True)
        structure.must_be("IncludeMaximum", True)
        structure.choice("NullOption", "NON_NULLS_ONLY")
        structure.choice("TimeGranularity", "DAY")
        return Filter(
            column,
            since=structure.node("RangeMinimumValue").text("Parameter"),
            until=structure.node("RangeMaximumValue").text("Parameter"),
        )
    configuration = structure.node("Configuration").node("CustomFilterConfiguration")
    configuration.choice("NullOption", "NON_NULLS_ONLY")
    if "CategoryValue" in configuration:
        equal = configuration.choice("MatchOperator", "EQUALS", "DOES_NOT_EQUAL") == "EQUALS"
        value = configuration.text("CategoryValue")
        return Filter(column, equals=value) if equal else Filter(column, differs=value)
    configuration.choice("MatchOperator", "EQUALS")
    return Filter(column, parameter=configuration.text("ParameterName"))


def read_control(node: Node, fields: Fields) -> Control:
    """Return a control of a sheet."""
    kind, structure = node.kind("Dropdown", "DateTimePicker")
    id_, title = structure.text("ParameterControlId"), structure.text("Title")
    parameter = structure.text("SourceParameterName")
    if kind == "DateTimePicker":
        structure.node("DisplayOptions").must_be("DateTimeFormat", "YYYY-MM-DD")
        return Control(id_, title, parameter)
    structure.must_be("Type", "SINGLE_SELECT", "MULTI_SELECT")
    sources = structure.node("CascadingControlConfiguration").nodes("SourceControls")
    everything = structure.node("DisplayOptions").node("SelectAllOptions")
    return Control(
        id_,
        title,
        parameter,
        fields.column(structure.node("SelectableValues").node("LinkToDataSetColumn")),
        everything.visible(),
        tuple(_source(each, fields) for each in sources),
    )


def _source(node: Node, fields: Fields) -> Source:
    return Source(node.text("SourceSheetControlId"), fields.column(node.node("ColumnToMatch")).name)
