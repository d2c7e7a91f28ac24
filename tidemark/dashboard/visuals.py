"""Builders of the dashboard's visuals, controls and filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tidemark.dashboard.data_sets import (
    BY_VERSION,
    COLORS,
    DAY,
    FORMATS,
    INTEGER,
    PAIRS,
    WEEKS,
    Column,
    default_format,
)
from tidemark.dashboard.model import (
    Axes,
    Chart,
    Control,
    Field,
    Filter,
    FilterGroup,
    Kpi,
    Order,
    PivotTable,
    Place,
    Sheet,
    Source,
    Style,
    Table,
    TextBox,
    Visual,
)

WIDTH = 36  # columns of a sheet's grid
_MOST_CONTROLS = 4  # in a row, as wide as each other
# The names of fields that differ from the names of their columns.
_NAMES = {"effect": "change", "effect_gain": "gain", "qualified_verdict": "verdict"}


class Sized(NamedTuple):
    """An element of a sheet, with its size in the grid."""

    element: Visual | TextBox
    rows: int
    columns: int = WIDTH


def _field(visual: str, column: Column, label: str = "", *, name: str = "") -> Field:
    """Return a field of a visual; ``name`` is its name there if it differs from the column's."""
    part = name or _NAMES.get(column.name, column.name).replace("_", "-")
    format_ = FORMATS.get(column) or default_format(column.type)
    if column.type == INTEGER and format_.places is None:
        format_ = replace(format_, places=0)
    label = label or column.name.replace("_", " ").capitalize()
    return Field(f"{visual}-{part}", column, label, format_, colors=COLORS.get(column))


def _dates(field: Field, days: int) -> Field:
    # The data sets already give each week its Monday.
    return replace(field, format=DAY, days=days)


def _measure(field: Field, aggregation: str) -> Field:
    measure = replace(field, aggregation=aggregation)
    if aggregation == "AVERAGE" and field.column.type == INTEGER:
        return replace(measure, format=replace(measure.format, places=None))
    return measure


def _visual(
    name: str, words: tuple[str, str, str], shown: Kpi | Table | PivotTable | Chart, column: Column
) -> Visual:
    title, subtitle, alternative = words
    return Visual(name, title, subtitle, alternative, column.data_set, shown)


def kpi(name: str, title: str, subtitle: str, alternative: str, *, sum_of: Column) -> Sized:
    """Return the sum of a column as one figure."""
    value = _measure(_field(name, sum_of, name="count"), "SUM")
    return _figure(name, (title, subtitle, alternative), value)


def worst_change(name: str, title: str, subtitle: str, alternative: str) -> Sized:
    """Return the least gain of a pair of versions as one figure."""
    value = _measure(_field(name, Column(PAIRS, "effect_gain")), "MIN")
    return _figure(name, (title, subtitle, alternative), value)


def _figure(name: str, words: tuple[str, str, str], value: Field) -> Sized:
    return Sized(_visual(name, words, Kpi(value), value.column), 6, WIDTH // 3)


def table(
    name: str,
    title: str,
    subtitle: str,
    alternative: str,
    *,
    data_set: str,
    rows: int,
    columns: Mapping[str, str],
    order: Sequence[str],
    names: Mapping[str, str] = {},
) -> Sized:
    """Return a table of a data set's rows.

    ``columns`` are the labels by column, ``order`` columns with a minus for descending, and
    ``names`` the names of fields that differ from the names of their columns.
    """
    fields = tuple(
        _field(name, Column(data_set, each), label, name=names.get(each, ""))
        for each, label in columns.items()
    )
    orders = tuple(
        Order(Column(data_set, each.lstrip("-")), None, each[0] == "-") for each in order
    )
    shown = Table(fields, orders)
    return Sized(_visual(name, (title, subtitle, alternative), shown, fields[0].column), rows)


def pivot_of_versions(name: str, title: str, subtitle: str, alternative: str) -> Sized:
    """Return the table of the mean of each metric, with a line for each version and size."""

    def field(column: str, label: str = "") -> Field:
        return _field(name, Column(BY_VERSION, column), label)

    rows = (
        field("suite", "Suite"),
        field("version", "Version number"),
        _dates(field("tested_at", "Test date"), 1),
        field("sizes", "Tasks × records"),
    )
    rank = Column(BY_VERSION, "version_rank")
    orders = tuple(
        Order(rank if each.column.name == "version" else each.column, "MIN") for each in rows
    )
    value = _measure(field("mean", "Rate"), "AVERAGE")
    shown = PivotTable(rows, field("rate"), value, orders)
    return Sized(_visual(name, (title, subtitle, alternative), shown, value.column), 14)


def heat_map_of_versions(name: str, title: str, subtitle: str, alternative: str) -> Sized:
    """Return the gain of each version on the mean of all, with a line for each metric."""
    rows = (_field(name, Column(BY_VERSION, "series"), "Metric"),)
    value = _measure(_field(name, Column(BY_VERSION, "usual_gain"), "Gain"), "AVERAGE")
    version = _field(name, Column(BY_VERSION, "version"))
    shown = PivotTable(rows, version, value, (Order(rows[0].column, "MIN"),), heat=True)
    return Sized(_visual(name, (title, subtitle, alternative), shown, value.column), 12)


def line_charts(
    name: str,
    title: str,
    subtitle: str,
    alternative: str,
    *,
    category: Column,
    called: str = "",
    label: str,
    mean: str = "mean",
    order: str = "",
    points: bool = False,
) -> Sized:
    """Return a chart for each series: mean, least and largest figure by category.

    ``called`` is the category's name in the visual if it differs from the column's. Without an
    ``order`` by another column the categories are in their own. ``points`` have no line.
    """

    def field(column: str) -> Field:
        return _field(name, Column(category.data_set, column))

    values = (
        _measure(field(mean), "AVERAGE"),
        _measure(field("min"), "MIN"),
        _measure(field("max"), "MAX"),
    )
    first, *ends = (
        [Style(line=False, dash="SOLID", markers=True)] * len(values)
        if points
        else [
            Style(line=True, dash="SOLID", markers=True),
            *[Style(line=True, dash="DOTTED", markers=False)] * 2,
        ]
    )
    shown = Chart(
        mark="line",
        category=_field(name, category, name=called),
        values=values,
        color=None,
        panels=field("series"),
        columns=2,
        orders=(Order(Column(category.data_set, order), "MIN") if order else Order(category),),
        axes=Axes(label, "", from_zero=False),
        legend="",
        styles={each.id: style for each, style in zip(values, (first, *ends), strict=True)},
    )
    return Sized(_visual(name, (title, subtitle, alternative), shown, category), 16)


def gain_bars(name: str, title: str, subtitle: str, alternative: str) -> Sized:
    """Return a bar for each metric of a pair of versions: its gain, with the interval."""
    gain = Column(PAIRS, "effect_gain")
    shown = Chart(
        mark="bar",
        category=_field(name, Column(PAIRS, "series")),
        values=(_measure(_field(name, gain), "MIN"),),
        color=_field(name, Column(PAIRS, "qualified_verdict")),
        panels=None,
        columns=1,
        orders=(Order(gain, "MIN"),),
        axes=Axes("", "← worse\N{EM SPACE}\N{EM SPACE}better →", from_zero=True),
        legend="Verdict",
        styles={},
        horizontal=True,
        stacked=True,
        interval=(Column(PAIRS, "gain_low"), Column(PAIRS, "gain_high")),
    )
    return Sized(_visual(name, (title, subtitle, alternative), shown, gain), 10)


def week_bars(name: str, title: str, subtitle: str, alternative: str) -> Sized:
    """Return a bar for each week: its runs, by how they ended."""
    week = Column(WEEKS, "week")
    shown = Chart(
        mark="bar",
        category=_dates(_field(name, week), 7),
        values=(_measure(_field(name, Column(WEEKS, "runs")), "SUM"),),
        color=_field(name, Column(WEEKS, "status")),
        panels=None,
        columns=1,
        orders=(Order(week),),
        axes=Axes("Week", "Runs", from_zero=True),
        legend="Ended as",
        styles={},
        stacked=True,
    )
    return Sized(_visual(name, (title, subtitle, alternative), shown, week), 12)


def text_box(name: str, text: str) -> Sized:
    """Return a paragraph."""
    return Sized(TextBox(name, text), 3)


def choice(
    sheet: str, parameter: str, data_set: str, *within: str, label: str = "", one: bool = False
) -> Control:
    """Return a control of the values of a column, which has the parameter's name in lower case.

    ``within`` are the parameters whose values limit the offered values. Only a choice of ``one``
    does not offer all values at once.
    """
    sources = tuple(
        Source(_control(sheet, each), Column(data_set, each.lower())) for each in within
    )
    column = Column(data_set, parameter.lower())
    name = _control(sheet, parameter)
    return Control(name, label or parameter, parameter, column, not one, sources)


def days(sheet: str, verb: str) -> tuple[Control, Control]:
    """Return the controls of the first and of the last day."""
    since, until = (
        Control(_control(sheet, each), f"{verb} {each.lower()}", each)
        for each in ("Since", "Until")
    )
    return since, until


def _control(sheet: str, parameter: str) -> str:
    return f"{sheet}-{parameter.lower()}"


def filters(
    name: str,
    sheet: str,
    data_set: str,
    *parameters: str,
    time: str = "",
    equals: Mapping[str, str] = {},
    differs: Mapping[str, str] = {},
    visuals: tuple[str, ...] = (),
) -> FilterGroup:
    """Return the filters of a data set on a sheet, or on some of its visuals.

    Columns must have the values of ``equals`` and of ``parameters``, and none of ``differs``.
    The column ``time`` must be between the days that a reader chooses.
    """

    def column(name: str) -> Column:
        return Column(data_set, name)

    between = (Filter(column(time), since="Since", until="Until"),) if time else ()
    return FilterGroup(
        name,
        sheet,
        (
            *(Filter(column(each), equals=value) for each, value in equals.items()),
            *(Filter(column(each), differs=value) for each, value in differs.items()),
            *(Filter(column(each.lower()), parameter=each) for each in parameters),
            *between,
        ),
        visuals,
    )


def sheet(
    name: str, tab: str, title: str, controls: Sequence[Control], elements: Iterable[Sized]
) -> Sheet:
    """Return a sheet with its elements below each other, or beside each other where they fit."""
    placed: list[tuple[Place, Visual | TextBox]] = []
    left, top = 0, 0
    for element, rows, columns in elements:
        placed.append((Place(left, columns, top, rows), element))
        left = (left + columns) % WIDTH
        top += 0 if left else rows
    return Sheet(name, tab, title, controls, placed)


def control_places(controls: Sequence[Control]) -> list[Place]:
    """Return the places of controls in a row."""
    width = WIDTH // max(_MOST_CONTROLS, len(controls))
    return [Place(at * width, width, 0, 1) for at in range(len(controls))]
