"""The definition of the dashboard in QuickSight.

Source: Amazon QuickSight API reference, DashboardVersionDefinition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from tidemark.dashboard.data_sets import COLORS, DATA_SETS, FORMATS, Column, Format
from tidemark.dashboard.model import (
    Chart,
    Control,
    Dashboard,
    Field,
    Filter,
    FilterGroup,
    Kpi,
    Order,
    PivotTable,
    Place,
    Sheet,
    Style,
    Table,
    TextBox,
    Visual,
)
from tidemark.dashboard.visuals import control_places

Json = dict[str, Any]

_VISIBLE, _HIDDEN = {"Visibility": "VISIBLE"}, {"Visibility": "HIDDEN"}
_GRANULARITIES = {1: "DAY", 7: "WEEK"}
# QuickSight's forms of a time, by its characters.
_TIMES = {10: "YYYY-MM-DD", 19: "YYYY-MM-DD HH:mm:ss"}
_DAY = {"DateTimeFormat": _TIMES[10]}
# The colours of a gain, by their places: worse, as usual, better.
_HEAT = (("#A11D21", -0.3), ("#FFFFFF", 0.0), ("#00785A", 0.3))
_FIRST_YEAR, _LAST_YEAR = "2000-", "2100-"


def definition(dashboard: Dashboard) -> Json:
    """Return the definition of a dashboard.

    The placeholder ``${name}`` stands for the ARN of a data set.
    """
    return {
        "DataSetIdentifierDeclarations": [
            {"Identifier": each, "DataSetArn": f"${{{each}}}"} for each in DATA_SETS
        ],
        "Sheets": list(map(_sheet, dashboard.sheets)),
        "ParameterDeclarations": [_parameter(*each) for each in dashboard.parameters.items()],
        "FilterGroups": list(map(_filters, dashboard.groups)),
        "ColumnConfigurations": [*_colors(COLORS), *_formats(FORMATS)],
    }


# ---- Columns and fields.


def _column(column: Column) -> Json:
    return {"DataSetIdentifier": column.data_set, "ColumnName": column.name}


def _field(field: Field) -> Json:
    return {"FieldId": field.id, "Column": _column(field.column)}


def _dimension(field: Field) -> Json:
    if field.days is None:
        return {"CategoricalDimensionField": _field(field)}
    granularity = {"DateGranularity": _GRANULARITIES[field.days], "FormatConfiguration": _DAY}
    return {"DateDimensionField": {**_field(field), **granularity}}


def _measure(field: Field, **more: Json) -> Json:
    function = {"SimpleNumericalAggregation": field.aggregation}
    return {"NumericalMeasureField": {**_field(field), "AggregationFunction": function, **more}}


def _by_field(field: Field, order: Order) -> Json:
    return {"FieldId": field.id, "Direction": "DESC" if order.descending else "ASC"}


def _by_column(order: Order) -> Json:
    function = {"SimpleNumericalAggregation": order.aggregation}
    return {
        "SortBy": _column(order.column),
        "Direction": "DESC" if order.descending else "ASC",
        "AggregationFunction": {"NumericalAggregationFunction": function},
    }


def _colors(colors: Mapping[Column, Mapping[str, str]]) -> Iterator[Json]:
    for column, by_value in colors.items():
        custom = [{"FieldValue": value, "Color": color} for value, color in by_value.items()]
        yield {"Column": _column(column), "ColorsConfiguration": {"CustomColors": custom}}


def _formats(formats: Mapping[Column, Format]) -> Iterator[Json]:
    for column, format_ in formats.items():
        yield {"Column": _column(column), "FormatConfiguration": _format(format_)}


def _format(format_: Format) -> Json:
    if format_.kind == "time":
        return {"DateTimeFormatConfiguration": {"DateTimeFormat": _TIMES[format_.places or 0]}}
    return {"NumberFormatConfiguration": {"FormatConfiguration": _number(format_)}}


def _number(format_: Format, **more: str) -> Json:
    places: Json = {}
    if format_.places is not None:
        places = {"DecimalPlacesConfiguration": {"DecimalPlaces": format_.places}}
    if format_.kind == "percentage":
        return {"PercentageDisplayFormatConfiguration": {**more, **places}}
    separator = {"ThousandsSeparator": {"Symbol": "COMMA", **_VISIBLE}}
    return {"NumberDisplayFormatConfiguration": {"SeparatorConfiguration": separator, **places}}


# ---- Visuals.


def _visual(visual: Visual) -> Json:
    kind, chart = _KINDS[type(visual.shown)](visual.shown)
    return {
        kind: {
            "VisualId": visual.id,
            "Title": _label(visual.title),
            "Subtitle": _label(visual.subtitle),
            "ChartConfiguration": chart,
            "VisualContentAltText": visual.alternative,
        }
    }


def _label(text: str) -> Json:
    return {**_VISIBLE, "FormatText": {"PlainText": text}}


def _kpi(shown: Kpi) -> tuple[str, Json]:
    more: Json = {}
    if shown.value.format.kind == "percentage":  # alone, a gain has to say that it is one
        display = _number(shown.value.format, Prefix="gain ")
        more = {"FormatConfiguration": {"FormatConfiguration": display}}
    return "KPIVisual", {"FieldWells": {"Values": [_measure(shown.value, **more)]}}


def _table(shown: Table) -> tuple[str, Json]:
    fields = {each.column: each for each in shown.fields}
    sorts = [{"FieldSort": _by_field(fields[each.column], each)} for each in shown.orders]
    return "TableVisual", {
        "FieldWells": {"TableUnaggregatedFieldWells": {"Values": list(map(_field, shown.fields))}},
        "SortConfiguration": {"RowSort": sorts},
        "FieldOptions": _labels(shown.fields),
    }


def _labels(fields: Iterable[Field]) -> Json:
    labels = [{"FieldId": each.id, "CustomLabel": each.label} for each in fields]
    return {"SelectedFieldOptions": labels}


def _heat_map(shown: PivotTable) -> tuple[str, Json]:
    place = Order(Column(shown.column.column.data_set, "version_rank"), "MIN")
    return "HeatMapVisual", {
        "FieldWells": {
            "HeatMapAggregatedFieldWells": {
                "Rows": list(map(_dimension, shown.rows)),
                "Columns": [_dimension(shown.column)],
                "Values": [_measure(shown.value)],
            }
        },
        "SortConfiguration": {"HeatMapColumnSort": [{"ColumnSort": _by_column(place)}]},
        "ColorScale": {
            "Colors": [{"Color": color, "DataValue": at} for color, at in _HEAT],
            "ColorFillType": "GRADIENT",
        },
    }


def _pivot_table(shown: PivotTable) -> tuple[str, Json]:
    if shown.heat:
        return _heat_map(shown)
    # By default, the values of a row are in their own order.
    sorts = [
        {"FieldId": row.id, "SortBy": {"Column": _by_column(order)}}
        for row, order in zip(shown.rows, shown.orders, strict=True)
        if order.column != row.column
    ]
    totals = ("RowSubtotal", "ColumnSubtotal", "RowTotal", "ColumnTotal")
    return "PivotTableVisual", {
        "FieldWells": {
            "PivotTableAggregatedFieldWells": {
                "Rows": list(map(_dimension, shown.rows)),
                "Columns": [_dimension(shown.column)],
                "Values": [_measure(shown.value)],
            }
        },
        "SortConfiguration": {"FieldSortOptions": sorts},
        "FieldOptions": _labels((*shown.rows, shown.value)),
        "TotalOptions": {f"{each}Options": {"TotalsVisibility": "HIDDEN"} for each in totals},
    }


def _chart(shown: Chart) -> tuple[str, Json]:
    return _line_chart(shown) if shown.mark == "line" else _bar_chart(shown)


def _wells(shown: Chart) -> Json:
    wells = {
        "Category": [_dimension(shown.category)],
        "Values": list(map(_measure, shown.values)),
    }
    for name, field in (("Colors", shown.color), ("SmallMultiples", shown.panels)):
        if field:
            wells[name] = [_dimension(field)]
    return wells


def _sorts(shown: Chart) -> Json:
    fields = {each.column: each for each in (shown.category, *shown.values)}
    sorts = [
        {"FieldSort": _by_field(fields[each.column], each)}
        if each.column in fields
        else {"ColumnSort": _by_column(each)}
        for each in shown.orders
    ]
    return {"SortConfiguration": {"CategorySort": sorts}}


def _line_chart(shown: Chart) -> tuple[str, Json]:
    independent = {"Scale": "INDEPENDENT"}
    from_the_data: Json = {"NumericAxisOptions": {"Range": {"DataDriven": {}}}}
    return "LineChartVisual", {
        "Type": "LINE",
        "FieldWells": {"LineChartAggregatedFieldWells": _wells(shown)},
        **_sorts(shown),
        "SmallMultiplesOptions": {
            "MaxVisibleColumns": shown.columns,
            "XAxis": independent,
            "YAxis": independent,
        },
        "XAxisLabelOptions": _axis_label(shown.axes.category, shown.category),
        "PrimaryYAxisDisplayOptions": {"AxisOptions": {"DataOptions": from_the_data}},
        "Series": [_style(name, style) for name, style in shown.styles.items()],
    }


def _style(field: str, style: Style) -> Json:
    line = {"LineStyle": style.dash} if style.line else {"LineVisibility": "HIDDEN"}
    marker = {"MarkerVisibility": "VISIBLE" if style.markers else "HIDDEN"}
    settings = {"LineStyleSettings": line, "MarkerStyleSettings": marker}
    item = {"FieldId": field, "AxisBinding": "PRIMARY_YAXIS", "Settings": settings}
    return {"FieldSeriesItem": item}


def _axis_label(label: str, field: Field) -> Json:
    return {**_VISIBLE, "AxisLabelOptions": [{"CustomLabel": label, "ApplyTo": _field(field)}]}


def _bar_chart(shown: Chart) -> tuple[str, Json]:
    axes = {
        "CategoryLabelOptions": (shown.axes.category, shown.category),
        "ValueLabelOptions": (shown.axes.value, shown.values[0]),
    }
    return "BarChartVisual", {
        "FieldWells": {"BarChartAggregatedFieldWells": _wells(shown)},
        **_sorts(shown),
        "Orientation": "HORIZONTAL" if shown.horizontal else "VERTICAL",
        "BarsArrangement": "STACKED" if shown.stacked else "CLUSTERED",
        **{name: _axis_label(*axis) for name, axis in axes.items() if axis[0]},
        **({"Tooltip": _tooltip(shown)} if shown.interval else {}),
        "Legend": {**_VISIBLE, "Title": {**_VISIBLE, "CustomLabel": shown.legend}},
    }


def _tooltip(shown: Chart) -> Json:
    """Return the tooltip with the ends of the interval, which QuickSight does not draw."""
    assert shown.color
    fields: list[Json] = [
        {"FieldId": shown.category.id},
        {"FieldId": shown.color.id},
        {"FieldId": shown.values[0].id, "Label": "Gain"},
    ]
    ends = [
        {
            "Column": _column(end),
            "Label": f"Gain {word} (95 %)",
            "Aggregation": {
                "NumericalAggregationFunction": {"SimpleNumericalAggregation": aggregation}
            },
        }
        for end, word, aggregation in zip(
            shown.interval, ("from", "to"), ("MIN", "MAX"), strict=True
        )
    ]
    return {
        "TooltipVisibility": "VISIBLE",
        "SelectedTooltipType": "DETAILED",
        "FieldBasedTooltip": {
            "AggregationVisibility": "HIDDEN",
            "TooltipFields": [
                *({"FieldTooltipItem": each} for each in fields),
                *({"ColumnTooltipItem": each} for each in ends),
            ],
        },
    }


_KINDS: Mapping[type, Any] = {
    Kpi: _kpi, Table: _table, PivotTable: _pivot_table, Chart: _chart
}  # fmt: skip


# ---- Parameters, controls and filters.


def _parameter(name: str, first: str) -> Json:
    if first[:5] in (_FIRST_YEAR, _LAST_YEAR):
        defaults = {"StaticValues": [f"{first}T00:00:00Z"]}
        day = {"Name": name, "TimeGranularity": "DAY", "DefaultValues": defaults}
        return {"DateTimeParameterDeclaration": day}
    if first:
        one = {"Name": name, "DefaultValues": {"StaticValues": [first]}}
        return {"StringParameterDeclaration": {"ParameterValueType": "SINGLE_VALUED", **one}}
    everything = {"ValueWhenUnset": {"ValueWhenUnsetOption": "RECOMMENDED_VALUE"}}
    some = {"Name": name, "DefaultValues": {}, **everything}
    return {"StringParameterDeclaration": {"ParameterValueType": "MULTI_VALUED", **some}}


def _control(control: Control) -> Json:
    common = {
        "ParameterControlId": control.id,
        "Title": control.label,
        "SourceParameterName": control.parameter,
    }
    if control.column is None:
        return {"DateTimePicker": {**common, "DisplayOptions": _DAY}}
    dropdown: Json = {
        **common,
        "Type": "MULTI_SELECT" if control.everything else "SINGLE_SELECT",
        "SelectableValues": {"LinkToDataSetColumn": _column(control.column)},
    }
    if not control.everything:
        dropdown["DisplayOptions"] = {"SelectAllOptions": _HIDDEN}
    if control.sources:
        sources = [
            {
                "SourceSheetControlId": each.control,
                "ColumnToMatch": _column(each.column),
            }
            for each in control.sources
        ]
        dropdown["CascadingControlConfiguration"] = {"SourceControls": sources}
    return {"Dropdown": dropdown}


def _filters(group: FilterGroup) -> Json:
    selected: Json = {"SheetId": group.sheet, "Scope": "ALL_VISUALS"}
    if group.visuals:
        selected |= {"Scope": "SELECTED_VISUALS", "VisualIds": list(group.visuals)}
    scope = {"SelectedSheets": {"SheetVisualScopingConfigurations": [selected]}}
    return {
        "FilterGroupId": group.id,
        "Filters": [_filter(group.id, each) for each in group.filters],
        "ScopeConfiguration": scope,
        "Status": "ENABLED",
        "CrossDataset": "SINGLE_DATASET",
    }


def _filter(group: str, each: Filter) -> Json:
    if each.since:
        return _between_days(group, each)
    value = {"CategoryValue": each.equals or each.differs}
    if each.parameter:
        value = {"ParameterName": each.parameter}
    operator = "DOES_NOT_EQUAL" if each.differs else "EQUALS"
    custom = {"MatchOperator": operator, **value, "NullOption": "NON_NULLS_ONLY"}
    return {
        "CategoryFilter": {
            "FilterId": f"{group}-{each.column.name}",
            "Column": _column(each.column),
            "Configuration": {"CustomFilterConfiguration": custom},
        }
    }


def _between_days(group: str, each: Filter) -> Json:
    return {
        "TimeRangeFilter": {
            "FilterId": f"{group}-time",
            "Column": _column(each.column),
            "RangeMinimumValue": {"Parameter": each.since},
            "RangeMaximumValue": {"Parameter": each.until},
            "IncludeMinimum": True,
            "IncludeMaximum": True,
            "NullOption": "NON_NULLS_ONLY",
            "TimeGranularity": "DAY",
        }
    }


# ---- Sheets.


def _sheet(sheet: Sheet) -> Json:
    boxes = [(place, each) for place, each in sheet.elements if isinstance(each, TextBox)]
    visuals = [(place, each) for place, each in sheet.elements if isinstance(each, Visual)]
    controls = zip(control_places(sheet.controls), sheet.controls, strict=True)
    return {
        "SheetId": sheet.id,
        "Name": sheet.name,
        "Title": sheet.title,
        "ContentType": "INTERACTIVE",
        "ParameterControls": list(map(_control, sheet.controls)),
        "TextBoxes": [
            {"SheetTextBoxId": box.id, "Content": _content(box.text)} for _, box in boxes
        ],
        "Visuals": [_visual(each) for _, each in visuals],
        "Layouts": _grid(
            [
                *(_element("TEXT_BOX", box.id, place) for place, box in boxes),
                *(_element("VISUAL", visual.id, place) for place, visual in visuals),
            ]
        ),
        "SheetControlLayouts": _grid(
            [_element("PARAMETER_CONTROL", control.id, place) for place, control in controls]
        ),
    }


def _content(text: str) -> str:
    return f"<text-box>{escape(text, quote=False)}</text-box>"


def _element(kind: str, name: str, place: Place) -> Json:
    return {
        "ElementId": name,
        "ElementType": kind,
        "ColumnIndex": place.column,
        "ColumnSpan": place.columns,
        "RowIndex": place.row,
        "RowSpan": place.rows,
    }


def _grid(elements: Sequence[Json]) -> list[Json]:
    return [{"Configuration": {"GridLayout": {"Elements": list(elements)}}}]
