"""The visuals of a dashboard, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidemark.dashboard.fields import Column, Field, Fields, Order, with_labels
from tidemark.dashboard.node import Node
from tidemark.dashboard.tooltips import read_interval
from tidemark.model.refusal import Refused


@dataclass(frozen=True)
class Kpi:
    """One figure."""

    value: Field

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields of the visual."""
        return (self.value,)


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

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields of the visual."""
        return (*self.rows, self.column, self.value)


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
class Legend:
    """The legend of a chart."""

    visible: bool
    title: str


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
    legend: Legend
    styles: Mapping[str, Style]
    """The styles of lines, by the id of the value."""
    horizontal: bool = False
    stacked: bool = False
    interval: tuple[Column, ...] = ()
    """The columns of the ends of the values' interval, none without an interval."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields of the visual."""
        optional = [field for field in (self.color, self.panels) if field]
        return (self.category, *self.values, *optional)


Shown = Kpi | Table | PivotTable | Chart


@dataclass(frozen=True)
class Visual:
    """A visual of a sheet."""

    id: str
    title: str
    subtitle: str
    alternative: str
    """The alternative text, for readers who do not see the visual."""
    data_set: str
    shown: Shown


def read_visual(node: Node, fields: Fields) -> Visual:
    """Return a visual; refuse an unsupported kind."""
    kind, visual = node.kind(*_READERS)
    shown = _READERS[kind](visual.node("ChartConfiguration"), fields)
    data_sets = {field.column.data_set for field in shown.fields}
    if len(data_sets) != 1:
        raise Refused(f"{visual.place}: its fields are of several data sets; expected one data set")
    return Visual(
        visual.text("VisualId"),
        _label(visual.node("Title")),
        _label(visual.node("Subtitle")),
        visual.text("VisualContentAltText", ""),
        data_sets.pop(),
        shown,
    )


def _label(node: Node) -> str:
    visible = node.visible()
    text = node.node("FormatText").text("PlainText", "")
    return text if visible else ""


def _kpi(chart: Node, fields: Fields) -> Kpi:
    return Kpi(fields.measure(chart.node("FieldWells").only("Values")))


def _table(chart: Node, fields: Fields) -> Table:
    wells = chart.node("FieldWells").node("TableUnaggregatedFieldWells")
    columns = with_labels(map(fields.field, wells.nodes("Values")), chart.node("FieldOptions"))
    sorts = chart.node("SortConfiguration").nodes("RowSort")
    return Table(columns, tuple(fields.order(sort, columns) for sort in sorts))


def _pivot_table(chart: Node, fields: Fields) -> PivotTable:
    wells = chart.node("FieldWells").node("PivotTableAggregatedFieldWells")
    rows = with_labels(map(fields.dimension, wells.nodes("Rows")), chart.node("FieldOptions"))
    totals = chart.node("TotalOptions")
    for name in ("RowSubtotal", "ColumnSubtotal", "RowTotal", "ColumnTotal"):
        totals.node(f"{name}Options").must_be("TotalsVisibility", "HIDDEN")
    sorts = {
        each.text("FieldId"): fields.order(each.node("SortBy"), rows, ("Field", "Column"))
        for each in chart.node("SortConfiguration").nodes("FieldSortOptions")
    }
    return PivotTable(
        rows,
        fields.dimension(wells.only("Columns")),
        fields.measure(wells.only("Values")),
        tuple(sorts.get(row.id, Order(row.column.name, "MIN", descending=False)) for row in rows),
    )


def _line_chart(chart: Node, fields: Fields) -> Chart:
    chart.choice("Type", "LINE")
    wells = chart.node("FieldWells").node("LineChartAggregatedFieldWells")
    axis = chart.node("PrimaryYAxisDisplayOptions").node("AxisOptions")
    return _chart(
        chart,
        wells,
        fields,
        mark="line",
        axes=Axes(
            _axis_title(chart.node("XAxisLabelOptions")),
            _axis_title(chart.node("PrimaryYAxisLabelOptions")),
            _from_zero(axis),
        ),
        styles=dict(_style(each.node("FieldSeriesItem")) for each in chart.nodes("Series")),
    )


def _bar_chart(chart: Node, fields: Fields) -> Chart:
    wells = chart.node("FieldWells").node("BarChartAggregatedFieldWells")
    return _chart(
        chart,
        wells,
        fields,
        mark="bar",
        axes=Axes(
            _axis_title(chart.node("CategoryLabelOptions")),
            _axis_title(chart.node("ValueLabelOptions")),
            from_zero=True,
        ),
        styles={},
        horizontal=chart.choice("Orientation", "HORIZONTAL", "VERTICAL") == "HORIZONTAL",
        stacked=chart.choice("BarsArrangement", "CLUSTERED", "STACKED") == "STACKED",
    )


def _chart(
    chart: Node,
    wells: Node,
    fields: Fields,
    *,
    mark: str,
    axes: Axes,
    styles: Mapping[str, Style],
    horizontal: bool = False,
    stacked: bool = False,
) -> Chart:
    category = fields.dimension(wells.only("Category"))
    values = tuple(map(fields.measure, wells.nodes("Values")))
    color, panels = wells.first("Colors"), wells.first("SmallMultiples")
    multiples = chart.node("SmallMultiplesOptions")
    for axis in ("XAxis", "YAxis"):
        multiples.node(axis).must_be("Scale", "INDEPENDENT")
    sorts = chart.node("SortConfiguration").nodes("CategorySort")
    return Chart(
        mark,
        category,
        values,
        fields.dimension(color) if color else None,
        fields.dimension(panels) if panels else None,
        multiples.number("MaxVisibleColumns") if panels else 1,
        tuple(fields.order(sort, [category, *values]) for sort in sorts),
        axes,
        _legend(chart.node("Legend")),
        styles,
        horizontal,
        stacked,
        read_interval(chart.node("Tooltip"), fields),
    )


def _legend(node: Node) -> Legend:
    title = node.node("Title")
    title.must_be("Visibility", "VISIBLE")
    return Legend(node.visible(), title.text("CustomLabel", ""))


def _axis_title(node: Node) -> str:
    visible = node.visible()
    label = node.first("AxisLabelOptions")
    if label is None:
        return ""
    label.skip("ApplyTo")  # the axis has one field
    return label.text("CustomLabel") if visible else ""


def _from_zero(axis: Node) -> bool:
    """Tell whether an axis begins at zero, which is the default."""
    range_ = axis.node("DataOptions").node("NumericAxisOptions").node("Range")
    return "DataDriven" not in range_


def _style(series: Node) -> tuple[str, Style]:
    series.choice("AxisBinding", "PRIMARY_YAXIS")
    settings = series.node("Settings")
    lines = settings.node("LineStyleSettings")
    line, dash = lines.visible("LineVisibility"), lines.choice("LineStyle", "SOLID", "DOTTED")
    markers = settings.node("MarkerStyleSettings").visible("MarkerVisibility")
    return series.text("FieldId"), Style(line, dash, markers)


_READERS: Mapping[str, Callable[[Node, Fields], Shown]] = {
    "KPIVisual": _kpi,
    "LineChartVisual": _line_chart,
    "BarChartVisual": _bar_chart,
    "TableVisual": _table,
    "PivotTableVisual": _pivot_table,
}
