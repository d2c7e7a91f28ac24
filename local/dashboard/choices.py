"""What a reader of the dashboard may choose: parameters, their controls, and the filters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from local.dashboard.fields import Column, Fields
from local.dashboard.node import Node

EVERYTHING = ""
"""What a parameter is that is not set."""
_DATE = 10  # characters of a day in ISO 8601


@dataclass(frozen=True)
class Filter:
    """Which rows of a data set are shown; those without a value in the column are not."""

    column: Column
    equals: str | None = None
    """The value that the column has to have."""
    differs: str | None = None
    """The value that the column must not have."""
    parameter: str | None = None
    """The parameter that says it; as long as it is not set, every row passes."""
    since: str | None = None
    """The parameter that says the first day."""
    until: str | None = None
    """The parameter that says the last day."""


@dataclass(frozen=True)
class Source:
    """A control on which the choices of another depend."""

    control: str
    column: str
    """Which has to have the value that is chosen there."""


@dataclass(frozen=True)
class Control:
    """An input that sets a parameter."""

    id: str
    label: str
    parameter: str
    column: Column | None = None
    """Whose values are offered; None takes a day."""
    everything: bool = False
    """Whether to choose none of them is offered, too."""
    sources: tuple[Source, ...] = ()


def read_parameters(nodes: Iterable[Node]) -> dict[str, str]:
    """Return the first value of each parameter."""
    return dict(map(_parameter, nodes))


def _parameter(node: Node) -> tuple[str, str]:
    kind, declared = node.kind("StringParameterDeclaration", "DateTimeParameterDeclaration")
    # One value, or all, may be chosen here; QuickSight lets several be.
    declared.must_be("ParameterValueType", "SINGLE_VALUED", "MULTI_VALUED")
    declared.must_be("TimeGranularity", "DAY")
    declared.node("ValueWhenUnset").must_be("ValueWhenUnsetOption", "RECOMMENDED_VALUE")
    values = declared.node("DefaultValues").texts("StaticValues")
    first = values[0] if values else EVERYTHING
    return declared.text("Name"), first[:_DATE] if kind.startswith("DateTime") else first


def read_filter(node: Node, fields: Fields) -> Filter:
    """Return a filter of the page."""
    kind, given = node.kind("CategoryFilter", "TimeRangeFilter")
    given.skip("FilterId")
    column = fields.column(given.node("Column"))
    if kind == "TimeRangeFilter":
        given.must_be("IncludeMinimum", True)
        given.must_be("IncludeMaximum", True)
        given.choice("NullOption", "NON_NULLS_ONLY")
        given.choice("TimeGranularity", "DAY")
        return Filter(
            column,
            since=given.node("RangeMinimumValue").text("Parameter"),
            until=given.node("RangeMaximumValue").text("Parameter"),
        )
    configuration = given.node("Configuration").node("CustomFilterConfiguration")
    configuration.choice("NullOption", "NON_NULLS_ONLY")
    if "CategoryValue" in configuration:
        equal = configuration.choice("MatchOperator", "EQUALS", "DOES_NOT_EQUAL") == "EQUALS"
        value = configuration.text("CategoryValue")
        return Filter(column, equals=value) if equal else Filter(column, differs=value)
    configuration.choice("MatchOperator", "EQUALS")
    return Filter(column, parameter=configuration.text("ParameterName"))


def read_control(node: Node, fields: Fields) -> Control:
    """Return a control of a sheet."""
    kind, given = node.kind("Dropdown", "DateTimePicker")
    id_, title = given.text("ParameterControlId"), given.text("Title")
    parameter = given.text("SourceParameterName")
    if kind == "DateTimePicker":
        given.node("DisplayOptions").must_be("DateTimeFormat", "YYYY-MM-DD")
        return Control(id_, title, parameter)
    given.must_be("Type", "SINGLE_SELECT", "MULTI_SELECT")
    sources = given.node("CascadingControlConfiguration").nodes("SourceControls")
    everything = given.node("DisplayOptions").node("SelectAllOptions")
    return Control(
        id_,
        title,
        parameter,
        fields.column(given.node("SelectableValues").node("LinkToDataSetColumn")),
        everything.visible(),
        tuple(_source(each, fields) for each in sources),
    )


def _source(node: Node, fields: Fields) -> Source:
    return Source(node.text("SourceSheetControlId"), fields.column(node.node("ColumnToMatch")).name)
